#!/bin/bash
# Submits the shards of what a model learns from as a job array, and the learning that waits for all of them:
#
#   refine.sh SHARDS SAMPLE.mlg DATA SUMS OUT.mlg
#
# It prints the numbers of the two jobs. Submit again after a failure, with the same arguments:
# finished shards are kept.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
array=$(sbatch --parsable --array="1-$1" "$here/refine.sbatch" "$2" "$4" "$5" "$1" "$3")
learn=$(sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes "$here/refine.sbatch" "$2" "$4" "$5")
echo "$array $learn"
