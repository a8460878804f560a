#!/usr/bin/env bash
# A million molecules on one machine: made from NCI1 by seeded edits, fitted, transformed,
# searched and embedded, with times and peak memory.
#
#   bench/million.sh [GRAPHS] [FOLDER]      1000000 and a temporary folder by default
#
# needs the folder of the NCI1 dataset in $MLG_DATASETS (../shared/datasets beside the
# repository), GNU time, and about 3 GB of disk for a million graphs. No step may use more
# than 8 GB: of data, by ulimit -d where the system counts mapped memory apart (Linux does),
# and of resident memory, by the peak that GNU time reports. Threads: $MLG_THREADS, 2 by default.
set -euo pipefail
cd "$(dirname "$0")/.."

graphs=${1:-1000000}
threads=${MLG_THREADS:-2}
data=${MLG_DATASETS:-../shared/datasets}/NCI1
limit_kb=$((8 * 1000 * 1000))
if [ $# -gt 1 ]; then
  work=$2
  mkdir -p "$work"
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
[ -d "$data" ] || { echo "no dataset in $data; set MLG_DATASETS" >&2; exit 1; }

go build -trimpath -o "$work/mlg" ./cmd/mlg
go build -o "$work/molecules" ./bench/molecules

cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
echo "# $graphs graphs, $threads threads, $cpu, $(nproc) cores, $(go env GOVERSION)"
echo "# $("$work/mlg" version)"

# step NAME COMMAND...: runs it within the limit and prints a row.
printf '%-24s %10s %10s %10s %10s\n' step 'wall s' 'CPU s' 'peak MB' 'file MB'
step() {
  local name=$1 file=$2
  shift 2
  if ! (ulimit -d "$limit_kb"; exec /usr/bin/time -o "$work/time" -f '%e %U %S %M' "$@") > "$work/out" 2> "$work/err"; then
    echo "$name failed:" >&2
    tail -5 "$work/err" >&2
    exit 1
  fi
  read -r wall user sys peak < <(tail -1 "$work/time")
  if [ "$peak" -gt "$limit_kb" ]; then
    echo "$name used $peak kB, more than 8 GB" >&2
    exit 1
  fi
  local size=-
  [ -z "$file" ] || size=$(($(stat -c %s "$file") / 1000000))
  printf '%-24s %10.2f %10.2f %10d %10s\n' "$name" "$wall" "$(echo "$user $sys" | awk '{print $1+$2}')" $((peak / 1000)) "$size"
}

mlg=("$work/mlg" --threads "$threads" --quiet)
step generate "$work/all.jsonl" bash -c '"$1" -n "$2" -seed 1 "$3" > "$4"' - "$work/molecules" "$graphs" "$data" "$work/all.jsonl"
"$work/molecules" -n 100 -seed 2 "$data" > "$work/queries.jsonl"
head -1 "$work/queries.jsonl" > "$work/query.jsonl"

step 'fit, 10 000 sampled' "$work/model.mlg" "${mlg[@]}" fit "$work/all.jsonl" --sample 10000 -o "$work/model.mlg"
step transform "$work/all.mlgs" "${mlg[@]}" transform "$work/model.mlg" "$work/all.jsonl" -o "$work/all.mlgs"
step 'search, 1 query' '' "$work/mlg" --threads "$threads" search "$work/all.mlgs" "$work/query.jsonl" -k 10
grep -o '^1 query among.*' "$work/err" | sed 's/ by.*//; s/^/# the search itself: /'
step 'search, 100 queries' '' "$work/mlg" --threads "$threads" search "$work/all.mlgs" "$work/queries.jsonl" -k 10
grep -o '^100 queries among.*' "$work/err" | sed 's/ by.*//; s/^/# the search itself: /'
step 'embed, 64 dimensions' "$work/all.npy" "${mlg[@]}" --json embed "$work/all.mlgs" --dimension 64 -o "$work/all.npy"
grep -E 'residual|error"' "$work/out" | sed 's/^ */# /; s/,$//'
