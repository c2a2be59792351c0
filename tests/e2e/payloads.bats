#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Real programs under nccl-launch on the embedded cluster: MPI, mpi4py, PyTorch, and programs that end badly.

bats_require_minimum_version 1.5.0
load cluster

LAUNCH=(nccl-launch --)
# PROGRAM replaces the launcher, so that Slurm alone reports its end.
PLAIN_LAUNCH=(nccl-launch --exec --preflight=off --)
PYTHON=/usr/bin/python3
STEP="srun --mpi=pmix ${LAUNCH[*]}"
PLAIN_STEP="srun --mpi=pmix ${PLAIN_LAUNCH[*]}"

setup_file() {
  make_state
  build //tests/mpi:sum //tests/payloads:dies //tests/perf:pmix_floor
  up payloads
  local bin=$NCCL_TUNE_CLUSTER_DIR/payloads/bin
  cp -L "$CLONE"/bazel-bin/tests/{mpi/sum,payloads/dies,perf/pmix_floor} "$bin"
  cp "$CLONE"/{tests/payloads/ddp.py,tools/measuring/launch_inside.py} "$bin"
}

teardown_file() {
  remove_state
}

# Fills status and output.
on_cluster() {
  needs_pmix
  run_mpi timeout 120 "$CLUSTER" run --name payloads "$@"
  echo "status $status: $output"  # shown when a test fails
}

# A command on the head, which has all nodes, two tasks on each.
in_job() { on_cluster salloc -Q -N3 --ntasks-per-node=2 "$@"; }

launch() { on_cluster srun -N3 --ntasks-per-node=2 --mpi=pmix "${LAUNCH[@]}" "$@"; }

# What is left of some lines when each is once there.
lacking() {
  local line
  for line in "$@"; do
    [ "$(grep -cFx "$line" <<<"$output")" = 1 ] || echo "not once: $line"
  done
}

@test "an MPI program adds up its ranks" {
  MPI_CRASH="Segmentation fault" launch sum
  [ "$status" -eq 0 ]
  [ "$(lacking "6 ranks, sum 15")" = "" ]
}

@test "mpi4py's own programs run: every rank says its name, and a message goes round" {
  # In one job: the second begins while the first's nodes are still warm.
  MPI_CRASH="Segmentation fault" in_job \
    sh -c "for name in helloworld ringtest; do $STEP $PYTHON -m mpi4py.bench \$name || exit; done"
  [ "$status" -eq 0 ]
  local rank
  for rank in 0 1 2 3 4 5; do
    [[ $output == *"Hello, World! I am process $rank of 6 on server$((rank / 2 + 1))."* ]]
  done
  [[ $output =~ "time for 1 loops = "[0-9.e-]+" seconds (6 processes, 1 bytes)" ]]
}

@test "PyTorch trains on three nodes: right sums, the same parameters on every rank, and those of one process" {
  # Debian 13's PyTorch asks for libuv by default and is built without.
  on_cluster env OMP_NUM_THREADS=1 USE_LIBUV=0 srun -N3 --ntasks-per-node=2 --mpi=pmix "${LAUNCH[@]}" \
    $PYTHON /run/cluster/bin/ddp.py
  [ "$status" -eq 0 ]
  [[ $output != *NOT* ]]
  local rank lines=("ddp: rank 0 of 6: as alone")
  for rank in 0 1 2 3 4 5; do
    lines+=("ddp: rank $rank of 6: sum right" "ddp: rank $rank of 6: trained")
    # What programs for torchrun read.
    grep -qE "^ddp: rank $rank of 6: elastic (True|False) local $((rank % 2))/2 group $((rank / 2))\$" <<<"$output"
  done
  [ "$(lacking "${lines[@]}")" = "" ]
}

@test "with plain exec a program's end is srun's, whatever it is" {
  in_job sh -c "for mode in segv abort exit3 kill memory nccl; do $PLAIN_STEP dies \$mode 2>/dev/null; echo \"\$mode \$?\"; done"
  [ "$status" -eq 0 ]
  [ "$(lacking "segv 139" "abort 134" "exit3 3" "kill 137" "memory 134" "nccl 1")" = "" ]
}

@test "of one rank that ends while the others wait, Slurm names how, and ends them" {
  in_job sh -c "for mode in segv abort exit3 kill memory nccl; do ${PLAIN_STEP/srun/srun -K} dies \$mode 3; done"
  local name="srun: error: server2: task 3:"
  [ "$(grep -F "$name" <<<"$output")" = "$(printf "$name %s\n" "Segmentation fault" Aborted "Exited with exit code 3" \
    Killed Aborted "Exited with exit code 1")" ]
  [ "$(grep -c '^srun: Force Terminated StepId=' <<<"$output")" = 6 ]
  # Its last words come through.
  [[ $output == *"dies: out of memory: malloc of 16777216 bytes failed"* ]]
  [[ $output == *"NCCL WARN socketProgress: Connection closed by remote peer server2<172.16.0.12:40001>"* ]]
}

@test "under a parent the rank that ended first is named, whatever it died of, and its status is srun's" {
  in_job sh -c "for mode in segv abort exit3 kill memory nccl; do $STEP dies \$mode 3; echo \"\$mode \$?\"; done"
  [ "$(lacking "segv 139" "abort 134" "exit3 3" "kill 137" "memory 134" "nccl 1")" = "" ]
  [ "$(grep -c '^nccl-launch: rank 3 (server2, pid [0-9]*) failed first: ' <<<"$output")" = 6 ]
  local how
  for how in "signal 11 (SIGSEGV)" "signal 6 (SIGABRT)" "signal 9 (SIGKILL)" "exited with status 3"; do
    [[ $output == *") failed first: "*"$how"* ]]
  done
  [[ $output == *"NCCL said last: "*"Connection closed by remote peer server2<172.16.0.12:40001>"* ]]
  run_mpi "$CLUSTER" run --name payloads srun -N3 sh -c 'pidof dies nccl-launch || echo none'
  [ "$(grep -cFx none <<<"$output")" = 3 ]
}

@test "a parent ends the ranks that hang, and kills the one that ignores SIGTERM" {
  on_cluster srun -N3 --ntasks-per-node=2 --mpi=pmix nccl-launch --timeout 2 --grace 1 -- dies ignore-term 2
  [ "$status" -eq 124 ]
  run_mpi "$CLUSTER" run --name payloads srun -N3 sh -c 'pidof dies nccl-launch || echo none'
  [ "$(grep -cFx none <<<"$output")" = 3 ]
}

@test "all that a program writes comes through" {
  needs_pmix
  "$CLUSTER" run --name payloads srun -N3 --ntasks-per-node=2 --mpi=pmix "${LAUNCH[@]}" dies flood 3>&- \
    >"$NCCL_TUNE_CLUSTER_DIR/flood.out" 2>"$NCCL_TUNE_CLUSTER_DIR/flood.err"
  local stream
  for stream in out err; do
    [ "$(grep -cE '^x{63}$' "$NCCL_TUNE_CLUSTER_DIR/flood.$stream")" = $((6 * 65536)) ]
    [ "$(grep -cFx "dies: flood done" "$NCCL_TUNE_CLUSTER_DIR/flood.$stream")" = 6 ]
  done
  rm "$NCCL_TUNE_CLUSTER_DIR"/flood.{out,err}
}

# Starts ranks in the background and waits until each has said a line that ends so: sets step (a pid) and log.
begin() {
  local ending=$1
  shift
  log=$NCCL_TUNE_CLUSTER_DIR/step.log
  timeout 60 "$CLUSTER" run --name payloads srun -K -N3 --ntasks-per-node=2 --mpi=pmix "${LAUNCH_WITH[@]}" "$@" \
    >"$log" 2>&1 3>&- &
  step=$!
  eventually have_said "$ending"
}
have_said() { [ "$(grep -c "$1\$" "$log")" -ge 1 ] && [ "$(grep -c '^dies: rank ' "$log")" = 6 ]; }

# Fills status and output when it ends.
finish() {
  status=0
  wait "$step" || status=$?  # not by run: the step is no child of its shell
  output=$(cat "$log")
  echo "status $status: $output"
}

@test "with plain exec ranks that hang are ended by Slurm, one that ignores SIGTERM by SIGKILL" {
  needs_pmix
  LAUNCH_WITH=("${PLAIN_LAUNCH[@]}")
  begin "dies: ignores SIGTERM" dies ignore-term 2
  # One rank ends: Slurm asks the others to, and after KillWait tells them.
  "$CLUSTER" run --name payloads --node server1 sh -c 'kill -USR1 "$(pidof -s dies)"' 3>&-
  finish
  [ "$status" -ne 0 ]
  [[ $output == *"server2: task 2: Killed"* ]]
  [[ $output == *"server3: tasks 4-5: Terminated"* ]]
  run_mpi "$CLUSTER" run --name payloads srun -N3 sh -c 'pidof dies || echo none'
  [ "$(grep -cFx none <<<"$output")" = 3 ]
}

@test "what a start costs can still be measured, and with plain exec nothing of the launcher stays" {
  in_job $PYTHON /run/cluster/bin/launch_inside.py 1 6
  [ "$status" -eq 0 ]
  run $PYTHON -c 'import json, sys
found = json.loads(sys.argv[1].splitlines()[-1])
whole = [name for name, row in found["rows"].items() if len(row["begin"]) == len(row["wall"]) == 1]
print(*sorted(whole), found["stays"]["exec"])' "$output"
  echo "$output"
  [ "$output" = "default exec floor floor again srun []" ]
}

@test "children of a rank that ended do not keep the step, when they hold none of its output" {
  in_job sh -c "$PLAIN_STEP sh -c 'dies orphans >/dev/null 2>&1'"
  [ "$status" -eq 3 ]
  "$CLUSTER" run --name payloads pkill -f dies-orphan 3>&-
}

# A memory cgroup below this test's own with a limit in bytes; prints its folder. Fails where there can be none.
make_memory_group() {
  local own limit=memory.max
  own=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
  if [ -d /sys/fs/cgroup/memory ]; then
    own=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup) limit=memory.limit_in_bytes
  fi
  local folder=${own%/}/nccl-tune-e2e.$$
  { mkdir "$folder" && echo "$1" >"$folder/$limit"; } 2>/dev/null || { rmdir "$folder" 2>/dev/null; return 1; }
  echo "$folder"
}

@test "a rank that the kernel kills, as its node's memory is used up" {
  needs_pmix
  local group slurmd
  group=$(make_memory_group 268435456) || skip "no memory cgroup can be made here"
  slurmd=$(pgrep -P "$(node_pid payloads server2)" -x slurmd)
  echo "$slurmd" >"$group/cgroup.procs"
  on_cluster srun -N3 --ntasks-per-node=2 --mpi=pmix "${LAUNCH[@]}" dies oom-kill 3
  echo "$slurmd" >"${group%/*}/cgroup.procs"
  eventually rmdir "$group"
  [ "$status" -eq 137 ]
  [[ $output == *"rank 3 (server2, pid "*"failed first: killed by signal 9 (SIGKILL)"* ]]
  [[ $output == *"server2: task 3: Killed"* || $output == *"server2: task 3: Out Of Memory"* ]]
}

# Last: the cluster has a node less from here on.
@test "a node that vanishes is named, and the step ends as soon as Slurm knows of it" {
  needs_pmix
  LAUNCH_WITH=("${LAUNCH[@]}")
  begin ": hang" dies hang
  kill -9 "$(node_pid payloads server3)"
  # Its launcher is missed within half a minute; Slurm itself would ask the node only after minutes.
  local told="nccl-launch: 1 of 3 nodes does not answer any more: server3"
  { eventually grep -qF "$told" "$log" || eventually grep -qF "$told" "$log" || eventually grep -qF "$told" "$log" ||
    eventually grep -qF "$told" "$log"; } || { cat "$log"; false; }
  "$CLUSTER" run --name payloads scontrol update NodeName=server3 State=DOWN Reason=vanished 3>&-
  local started=$SECONDS
  finish
  [ "$status" -ne 0 ]
  [ $((SECONDS - started)) -lt 30 ]
  [[ $output == *server3* ]]
}
