#!/bin/bash
# Submits the shards of a Gram matrix as a job array, and the merge that waits for all of them:
#
#   submit.sh SHARDS DATA TILES GRAM.npy [flags of mlg gram, such as --kernel "wl h=3"]
#
# It prints the numbers of the two jobs. Submit again after a failure, with the same arguments:
# finished tiles are kept.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
shards=$1 data=$2 tiles=$3 out=$4
shift 4
array=$(sbatch --parsable --array="1-$shards" "$here/gram.sbatch" "$shards" "$data" "$tiles" "$@")
merge=$(sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes "$here/merge.sbatch" "$tiles" "$out")
echo "$array $merge"
