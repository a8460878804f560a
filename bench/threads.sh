#!/usr/bin/env bash
# Train the default candidates on graphs of online threads with hubs (bench/threads), and predict them:
# wall and CPU time, peak memory, size of the model.
#
#   bench/threads.sh [GRAPHS] [FOLDER]      2000 and a temporary folder by default
#
# needs GNU time. Threads: $MLG_THREADS, 2 by default.
set -euo pipefail
cd "$(dirname "$0")/.."

graphs=${1:-2000}
threads=${MLG_THREADS:-2}
if [ $# -gt 1 ]; then
  work=$2
  mkdir -p "$work"
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
go build -trimpath -o "$work/mlg" ./cmd/mlg
go run ./bench/threads -n "$graphs" -seed 1 > "$work/threads.jsonl"
echo "# $graphs graphs, $threads threads, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, $(go env GOVERSION)"
for step in "train $work/threads.jsonl -o $work/threads.mlg" "predict $work/threads.mlg $work/threads.jsonl -o $work/out.csv"; do
  # shellcheck disable=SC2086 # the words of a step
  GOMAXPROCS=$threads /usr/bin/time -f "${step%% *}: %e s, CPU %U s, peak %M kB" "$work/mlg" --threads "$threads" --quiet $step
done
stat -c 'model: %s bytes' "$work/threads.mlg"
