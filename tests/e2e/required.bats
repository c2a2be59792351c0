#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a plugin that fails can do to a cluster, where its line says `required` against our advice: Slurm then takes our
# return codes, ends steps, drains nodes and queues jobs again. Ours must give it no cause. Most faults are planted in a
# build of the plugin for tests (tests/spank/faults.cc); the machine and the policy are broken for the others.

bats_require_minimum_version 1.5.0
load cluster

INSIDE=/run/cluster

setup_file() {
  make_state
  up required --nodes 2
  add_test_plugins required //tests/spank:faulty_plugin
  drop_in
}

setup() { CONF=$NCCL_TUNE_CLUSTER_DIR/required/conf; }

teardown() { rm -f "$CONF/fault" "$CONF/nccl-tune.toml"; }

teardown_file() { remove_state; }

head_run() { "$CLUSTER" run --name required "$@" 3>&-; }
drop_in() {
  echo "required $INSIDE/bin/faulty_plugin.so policy=$INSIDE/conf/nccl-tune.toml timeout_ms=400" \
    >"$NCCL_TUNE_CLUSTER_DIR/required/conf/plugstack.conf.d/nccl_tune.conf"
}
plant() { echo "$1" >"$CONF/fault"; }

# On the head: submits a batch job with $1 that does $2, runs the other words, and waits until the job has ended and the nodes
# are idle, 10 seconds at most. Leaves what Slurm says then of the job and of nodes that it has taken out of use.
BOTH='mode=$1 work=$2; shift 2
job=$(sbatch --parsable --requeue -N1 -w server1 -o /run/cluster/out $mode --wrap "$work" 2>/run/cluster/submitted | tail -n 1)
timeout 30 "$@"; status=$?
for i in $(seq 200); do
  scontrol show job $job >/run/cluster/job
  ! grep -qE "JobState=(COMPLETED|FAILED)" /run/cluster/job || [ "$(sinfo -h -N -o %t | sort -u)" != idle ] || break
  sleep 0.05
done
sinfo -h -N -o %t | sort -u >/run/cluster/state
sinfo -h -R >>/run/cluster/state
exit $status'

# The job has ended so, once, and no node is out of use.
ended() {
  local files=$NCCL_TUNE_CLUSTER_DIR/required
  [[ $(cat "$files/job") == *"JobState=$1 "*"Restarts=0"*"ExitCode=$2:0"* ]]
  [ "$(cat "$files/state")" = idle ]
}

# Runs a step and a batch job under the fault, each of which ends with a status of its own; $said: what the step's user sees.
goes_on() {
  local mode=${1:---nccl-tune}
  run -5 --separate-stderr head_run sh -c "$BOTH" sh --nccl-tune "echo ran; exit 6" \
    srun -N2 --ntasks-per-node=1 "$mode" sh -c 'echo ran; exit 5'
  [ "$output" = $'ran\nran' ]
  # shellcheck disable=SC2154  # run sets it
  said=$(grep nccl-tune <<<"$stderr" || true)
  ended FAILED 6
  [[ $(cat "$NCCL_TUNE_CLUSTER_DIR/required/out") == *ran ]]
}

@test "without a fault that build of the plugin tunes" {
  run -0 --separate-stderr head_run srun -N2 --ntasks-per-node=1 --nccl-tune sh -c 'echo "${NCCL_IB_HCA-none}"'
  [ "$output$stderr" = $'=mlx5_1:1\n=mlx5_1:1' ]
  goes_on
  [ -z "$said" ]
}

@test "an exception in init: the option is missing then, and jobs run" {
  plant init
  run ! head_run srun -N1 --nccl-tune true
  [[ $output == *"nccl-tune: init: planted in init"* ]]
  run -0 --separate-stderr head_run env NCCL_TUNE=auto sh -c "$BOTH" sh --comment=x true \
    srun -N2 --ntasks-per-node=1 sh -c 'echo ran'
  [ "$output" = $'ran\nran' ]
  ended COMPLETED 0
}

@test "an exception in srun: the nodes explain by themselves" {
  plant local_user_init
  goes_on --nccl-tune=explain
  [[ $said == *"local_user_init: std::bad_alloc"* ]]
  [ "$(grep -c '^nccl-tune: server[12]$' <<<"$said")" = 2 ]
}

@test "an exception on the node before the tasks, or in a task" {
  plant user_init
  goes_on
  [[ $said == *"nccl-tune: user_init: planted in user_init"* ]]
  plant user_init_odd
  goes_on
  [[ $said == *"nccl-tune: user_init: unknown exception"* ]]
  plant task_init
  goes_on
  [[ $said == *"nccl-tune: task_init: planted in task_init"* ]]
}

@test "the process that looks at the node crashes, hangs, says nothing or may not take the user's ids" {
  local case
  for case in "child_crash the detecting process died of signal 11" "child_abort the detecting process died of signal 6" \
    "child_hang no answer in time" "child_silent no answer that makes sense" "child_refused the detecting process failed"; do
    # A sanitizer's runtime in slurmstepd reports the crash, planted or not.
    [ -z "${NCCL_TUNE_SANITIZED:-}" ] || [[ $case != child_crash* ]] || continue
    plant "${case%% *}"
    goes_on
    [[ $said == *"nccl-tune: server1: ${case#* }"*"; this node goes on with NCCL's own defaults"* ]]
    [ "$(wc -l <<<"$said")" = 2 ]
  done
  run -0 head_run --node server1 sh -c 'find /tmp /root /run/slurmd -name "core*"'
  [ -z "$output" ]
}

@test "a node without /sys, and one with a broken policy" {
  head_run --node server1 mount -t tmpfs none /sys
  goes_on
  head_run --node server1 umount -l /sys
  [[ $said == *"no machine here"* ]]
  echo "mode = sometimes" >"$CONF/nccl-tune.toml"
  goes_on
  [ -z "$said" ]
}

@test "strict, whatever fails: 78 for the step and for the batch job, which is not queued again, and no node drains" {
  local fault
  for fault in user_init task_init child_hang child_abort; do
    plant "$fault"
    run -78 --separate-stderr head_run sh -c "$BOTH" sh --nccl-tune=strict "echo ran" \
      srun -N1 -n2 -w server1 --nccl-tune=strict echo ran
    [ -z "$output" ]
    [ "$(grep -c "nccl-tune: server1: strict: its tasks end with status 78" <<<"$stderr")" = 1 ]
    ended FAILED 78
  done
}

@test "a user who is not root" {
  [ "$(id -u)" = 0 ] || skip "a plain user's cluster has one user"
  plant child_abort
  run -5 --separate-stderr head_run --user alice srun -N1 -w server1 --nccl-tune sh -c 'echo ran; exit 5'
  [ "$output" = ran ]
  [[ $stderr == *"died of signal 6"* ]]
}
