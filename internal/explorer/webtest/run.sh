#!/bin/sh
# Runs the tests of the page, or with "bench" its measurements: installs what they need, builds the
# command, starts Chromium.
set -eu
cd "$(dirname "$0")"
: "${CHROMIUM:=/usr/bin/chromium}"
if ! command -v node >/dev/null || ! command -v npm >/dev/null || [ ! -x "$CHROMIUM" ]; then
	if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
		echo "installing chromium and node"
		{ apt-get install -y --no-install-recommends chromium nodejs npm fonts-dejavu-core ||
			{ apt-get update && apt-get install -y --no-install-recommends chromium nodejs npm fonts-dejavu-core; }; } >apt.log 2>&1 || {
			tail -n 5 apt.log
			echo "SKIPPED: tests of the explorer's page: chromium cannot be installed"
			exit 0
		}
		rm -f apt.log
	else
		echo "SKIPPED: tests of the explorer's page: they need node, npm and chromium (CHROMIUM names another browser)"
		exit 0
	fi
fi
want=$(sed -n 's/.*"playwright-core": "\(.*\)".*/\1/p' package.json)
have=$(sed -n 's/^ *"version": "\(.*\)".*/\1/p' node_modules/playwright-core/package.json 2>/dev/null || true)
[ "$want" = "$have" ] || npm install --no-audit --no-fund --no-package-lock --loglevel=error
(cd ../../.. && CGO_ENABLED=0 "${GO:-go}" build -trimpath -o bin/mlg ./cmd/mlg)
export CHROMIUM
if [ "${1:-}" = bench ]; then
	exec timeout 240 node bench.mjs
fi
(cd .. && MLG_BARE="$PWD/webtest/bare.mlg" "${GO:-go}" test -count=1 -run TestBareFile . >/dev/null)
exec timeout 240 node --test --test-concurrency=1 explorer.test.mjs
