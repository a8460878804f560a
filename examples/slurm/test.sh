#!/bin/bash
# Tests the scripts on a cluster of one node, which it starts and stops: munge and Slurm from
# Debian's packages, installed if they are missing, with all their files in a temporary folder
# and all their ports on loopback. Needs root. Run by make test-slurm.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "make test-slurm starts daemons and may install packages: run it as root" >&2; exit 1; }

packages="munge slurmctld slurmd slurm-client"
# shellcheck disable=SC2086
if ! dpkg -s $packages > /dev/null 2>&1; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages > /dev/null
fi

work=$(mktemp -d)
chmod 755 "$work"
pids=()
cleanup() {
  status=$?
  if [ $status -ne 0 ]; then
    echo "--- failed; the last lines of the logs:" >&2
    tail -n 15 "$work"/*.log "$work"/run/*.log >&2 || true
  fi
  [ ! -e "$work/slurm.conf" ] || scancel --user=root > /dev/null 2>&1 || true
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill "${pids[i]}" 2> /dev/null || true
  done
  for pid in "${pids[@]}"; do # gone within ten seconds, or killed
    for _ in $(seq 100); do
      kill -0 "$pid" 2> /dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2> /dev/null || true
  done
  rm -rf "$work"
  exit $status
}
trap cleanup EXIT

# free prints a port that nobody listens on.
free() { while :; do p=$((20000 + RANDOM % 20000)); (: < "/dev/tcp/127.0.0.1/$p") 2> /dev/null || { echo $p; return; }; done; }

mkdir -m 700 "$work/munge"
chmod 755 "$work/munge"
head -c 1024 /dev/urandom > "$work/munge/key"
chmod 600 "$work/munge/key"
munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
  --log-file="$work/munged.log" --seed-file="$work/munge/seed" > /dev/null 2>&1 &
pids+=($!)

host=$(hostname -s)
cat > "$work/slurm.conf" <<CONF
ClusterName=mlgtest
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=$(free)
SlurmdPort=$(free)
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MinJobAge=3600
SchedulerParameters=sched_min_interval=100000
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=16000 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES State=UP
CONF
mkdir "$work/state" "$work/spool" "$work/run" "$work/bin"
export SLURM_CONF=$work/slurm.conf PATH=$work/bin:$PATH
for _ in $(seq 50); do [ -S "$work/munge/socket" ] && break; sleep 0.1; done
slurmctld -D -c > "$work/ctld.log" 2>&1 &
pids+=($!)
slurmd -D -c > "$work/d.log" 2>&1 &
pids+=($!)
for _ in $(seq 150); do sinfo -h -o %t 2> /dev/null | grep -q '^idle' && break; sleep 0.2; done
sinfo -h -o 'Slurm is up: node %N is %t'
sinfo -h -o %t | grep -q '^idle'

# wait_for JOB: until no task of the job is in the queue any more. One that was requeued would
# wait for two minutes before it starts again.
wait_for() {
  for _ in $(seq 300); do
    [ -n "$(squeue -h -j "$1" 2> /dev/null)" ] || return 0
    for id in $(squeue -h -j "$1" -t PENDING -o '%A %r' | awk '$2 == "BeginTime" {print $1}'); do
      scontrol update "JobId=$id" StartTime=now || true
    done
    sleep 0.2
  done
  squeue >&2
  echo "job $1 does not end" >&2
  return 1
}
state() { scontrol -o show job "$1" | grep -o 'JobState=[A-Z]*' | sort -u | tr '\n' ' '; }

(cd "$repo" && go build -trimpath -o "$work/bin/mlg" ./cmd/mlg)
cd "$work/run"
mlg --quiet gram builtin:drugs -o whole.npy

echo "an array of 5, of which a task is requeued and another killed in the middle"
read -r array merge < <("$here/submit.sh" 5 builtin:drugs "$work/run/tiles" "$work/run/gram.npy" --tile-side 6)
for _ in $(seq 300); do [ -n "$(ls tiles/*.mlgt* 2> /dev/null)" ] && break; sleep 0.02; done
scontrol requeue "${array}_1" || echo "(task 1 was too fast)"
scancel --signal=KILL "${array}_2" || echo "(task 2 was too fast)"
wait_for "$array"
wait_for "$merge"
echo "tasks: $(state "$array"); merge: $(state "$merge"); $(ls tiles | tr '\n' ' ')"

echo "the same again: what is finished is kept"
read -r array merge < <("$here/submit.sh" 5 builtin:drugs "$work/run/tiles" "$work/run/gram.npy" --tile-side 6)
wait_for "$array"
wait_for "$merge"
[ "$(state "$array")" = 'JobState=COMPLETED ' ]
[ "$(state "$merge")" = 'JobState=COMPLETED ' ]
grep -q ' 0 computed and' mlg-gram-"$array"_*.log
cmp gram.npy whole.npy
cmp gram.ids.csv whole.ids.csv

echo "a lost shard: the merge fails and names its tiles, the tasks are submitted again one by one"
rm tiles/shard-3-of-5.mlgt gram.npy
merge=$(sbatch --parsable "$here/merge.sbatch" "$work/run/tiles" "$work/run/gram.npy")
wait_for "$merge"
[ "$(state "$merge")" = 'JobState=FAILED ' ]
grep -q 'tile/0/2' "mlg-merge-$merge.log"
[ ! -e gram.npy ]
for task in 1 2 3 4 5; do
  array=$(sbatch --parsable --array=$task "$here/gram.sbatch" 5 builtin:drugs "$work/run/tiles" --tile-side 6)
  wait_for "$array"
done
merge=$(sbatch --parsable "$here/merge.sbatch" "$work/run/tiles" "$work/run/gram.npy")
wait_for "$merge"
cmp gram.npy whole.npy
echo "Slurm: the merged matrix has the bits of mlg gram"

echo "learning from shards"
mlg --quiet train "$repo/examples/drugs.csv" --quick -o sample.mlg > /dev/null
mlg --quiet refine sample.mlg "$repo/examples/drugs.csv" -o whole.mlg > /dev/null
for _ in 1 2; do # the second time all shards are kept
  read -r array learn < <("$here/refine.sh" 3 "$work/run/sample.mlg" "$repo/examples/drugs.csv" "$work/run/sums" "$work/run/out.mlg")
  wait_for "$array"
  wait_for "$learn"
  [ "$(state "$learn")" = 'JobState=COMPLETED ' ]
  cmp out.mlg whole.mlg
  rm out.mlg
done
grep -q ', kept' mlg-refine-"$array"_*.log
echo "Slurm: the model has the bits of mlg refine"
