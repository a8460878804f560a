#!/bin/bash
# Size of the features of a graph in a store, and processor time of transform and search:
#
#   go run ./bench/molecules -n 50000 -seed 1 NCI1 > m.jsonl; bench/stores.sh m.jsonl
set -e
TIMEFORMAT=%U
user() { { time "$@" > /dev/null 2>&1; } 2>&1; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
head -1 "$1" > "$work/1.jsonl"
head -100 "$1" > "$work/100.jsonl"
for k in mlg wl wl-oa labels sp wl-sp nspd graphlet; do
	rm -f "$work"/k.*
	mlg --quiet fit "$1" --kernel $k --sample 5000 -o "$work/k.mlg"
	transform=$(user mlg transform "$work/k.mlg" "$1" -o "$work/k.mlgs")
	bytes=$((($(stat -c %s "$work/k.mlgs") - $(stat -c %s "$work/k.mlg")) / $(wc -l < "$1")))
	echo "$k: transform $transform s, $bytes bytes per graph, 1 query $(user mlg search "$work/k.mlgs" "$work/1.jsonl") s, 100 queries $(user mlg search "$work/k.mlgs" "$work/100.jsonl") s"
done
