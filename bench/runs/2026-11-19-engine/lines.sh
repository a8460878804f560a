#!/bin/sh
# Lines of Go by package at some commits, without tests and generated files: sh lines.sh COMMIT... > lines.txt
for c in "$@"; do
	git ls-tree -r --name-only "$c" | grep '\.go$' | grep -v '_test\.go$' | while read -r f; do
		git show "$c:$f" | awk -v f="$f" '
			/^\/\/ Code generated .* DO NOT EDIT/ { made = 1 }
			END { if (!sub("/[^/]*$", "", f)) f = "(root)"; if (!made) print f, NR }'
	done | awk -v c="$c" '
		{ n[$1] += $2; all += $2 }
		END { print c, "all", all; for (p in n) print c, p, n[p] }' | sort -k2,2
done
