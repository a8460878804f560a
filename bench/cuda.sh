#!/usr/bin/env bash
# Measures a GPU beside the processor: bench/cuda.sh BIN NCI1, where BIN is a folder with the binaries
# mlg, molecules and gram (bench), and cuda.test (go test -c ./cuda). Needs 30 GB of disk and 60 GB of memory.
set -euo pipefail
bin=$(realpath "$1") data=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
both() { for d in cpu cuda; do echo "-- $d: $*"; "$@" --device $d 2>&1 | grep -v compared; done; }

nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader
lscpu | grep -E '^(Model name|CPU\(s\)|Flags)' | sed 's/\(Flags:\).*\(avx512f\).*/\1 \2/'
echo "== kernels alone, without transfers"
MLG_DEVICE=cuda "$bin/cuda.test" -test.run xxx -test.bench 'Cross|Factors' -test.benchtime 100ms | grep -E 'P=|m=' | awk '{print $1, $(NF-1), $NF}'
"$bin/mlg" bench --ranks 4,6,8,10,12,16,24,32,48,64 --datasets /nowhere 2>/dev/null | sed -n 1,14p
"$bin/molecules" -n 100000 "$data" > many.jsonl
for rank in 10 32; do
  for d in cpu cuda; do
    echo "== 100 000 graphs, rank $rank, values added up, $d"
    "$bin/gram" -rank $rank -device $d many.jsonl
  done
done
"$bin/molecules" -n 200000 -seed 3 "$data" > new.jsonl
for o in "-samples 100 -rank 10" "-samples 600 -rank 32" "-samples 600 -rank 32 -radii 1,2,4"; do
  for d in cpu cuda; do
    echo "== transform of 200 000 graphs, $o, $d"
    "$bin/gram" -transform $o -device $d new.jsonl
  done
done
echo "== 50 000 graphs, rank 10, 20 GB to disk"
head -50000 many.jsonl > half.jsonl
both "$bin/mlg" gram half.jsonl --kernel "mlg bonds=false" -o half.npy
rm half.npy
echo "== NCI1, 600 landmarks, rank 32"
both "$bin/mlg" fit "$data" --kernel "mlg samples=600 rank=32 radii=1,2,4" -o fit.mlg
both "$bin/mlg" gram "$data" --kernel "mlg samples=600 rank=32 radii=1,2,4" -o gram.npy
echo "== 1000 queries in a store of a million"
"$bin/molecules" -n 1000000 -seed 2 "$data" > million.jsonl
head -1000 many.jsonl > queries.jsonl
for rank in 10 32; do
  "$bin/mlg" fit "$data" --kernel "mlg rank=$rank" -o m.mlg 2>/dev/null
  both "$bin/mlg" transform m.mlg million.jsonl -o million.store
  for d in cpu cuda; do
    start=$(date +%s.%N)
    "$bin/mlg" search million.store queries.jsonl -k 10 --quiet --device $d | md5sum
    echo "search, rank $rank, $d: $(awk "BEGIN {print $(date +%s.%N) - $start}") s"
  done
  rm million.store
done
