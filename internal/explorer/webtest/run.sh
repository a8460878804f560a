#!/bin/sh
# Runs the tests of the explorer's page, with "bench" its measurements, with "site" the tests of the
# pages of "make docs": installs what is missing, builds, starts Chromium. Where something is missing
# and cannot be installed the tests are skipped; with CI=true that is a failure.
set -eu
cd "$(dirname "$0")"

skip() {
	echo "SKIPPED: tests in a browser: $1"
	[ "${CI:-}" = true ] && exit 1
	exit 0
}

# browser prints the path of a Chromium, first of the one without windows, which is faster.
browser() {
	for b in "${CHROMIUM:-}" chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
		[ -n "$b" ] && command -v "$b" && return
	done
	return 1
}

missing=
command -v node >/dev/null || missing="$missing nodejs"
command -v npm >/dev/null || missing="$missing npm"
browser >/dev/null || missing="$missing chromium-headless-shell"
[ -d /usr/share/fonts/truetype/dejavu ] || [ -n "$(fc-list 2>/dev/null)" ] || missing="$missing fonts-dejavu-core"
if [ -n "$missing" ]; then
	command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || skip "they need$missing (CHROMIUM names another browser)"
	echo "installing$missing"
	install="apt-get install -y --no-install-recommends"
	{ $install $missing || { apt-get update && $install $missing; }; } >apt.log 2>&1 || {
		tail -n 5 apt.log
		skip "apt-get cannot install$missing"
	}
	rm -f apt.log
fi
CHROMIUM=$(browser) || skip "chromium was installed and is not there"
export CHROMIUM

[ -d node_modules/axe-core ] || rm -rf node_modules
want=$(sed -n 's/.*"playwright-core": "\(.*\)".*/\1/p' package.json)
have=$(sed -n 's/^ *"version": "\(.*\)".*/\1/p' node_modules/playwright-core/package.json 2>/dev/null || true)
[ "$want" = "$have" ] || npm ci --no-audit --no-fund --loglevel=error ||
	skip "npm cannot install playwright-core and axe-core"
[ "${1:-}" = install ] && exit
if [ "${1:-}" = site ]; then
	SITE=$(mktemp -d)
	export SITE
	trap 'rm -rf "$SITE"' EXIT
	(cd ../../site && "${GO:-go}" run . -o "$SITE")
	timeout 600 node --test site.test.mjs
	exit
fi
(cd ../../.. && CGO_ENABLED=0 "${GO:-go}" build -o bin/mlg ./cmd/mlg)
if [ "${1:-}" = bench ]; then
	exec timeout 240 node bench.mjs
fi
exec timeout 1200 node --test --test-concurrency=1 explorer.test.mjs said.test.mjs layout.test.mjs target.test.mjs large.test.mjs directed.test.mjs rows.test.mjs team.test.mjs many.test.mjs table.test.mjs structure.test.mjs next.test.mjs session.test.mjs trust.test.mjs chosen.test.mjs axe.test.mjs
