#!/bin/sh
# need.sh COMMAND PACKAGE...: installs Debian packages where a command is missing and apt-get may be
# used. The tests say themselves what they miss.
set -eu
command=$1
shift
if command -v "$command" >/dev/null || ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
	exit 0
fi
echo "installing $*"
{ apt-get install -y --no-install-recommends "$@" ||
	{ apt-get update && apt-get install -y --no-install-recommends "$@"; }; } >/dev/null 2>&1 ||
	echo "$* cannot be installed"
