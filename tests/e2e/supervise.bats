#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# nccl-launch as a parent of the ranks: what it says when one fails, and how the others end.

bats_require_minimum_version 1.5.0
load cluster

setup_file() {
  make_state
  up supervise
}

teardown_file() {
  remove_state
}

# Fills status and output; the output of both kinds.
on_cluster() {
  needs_pmix "$@"
  run "$CLUSTER" run --name supervise "$@" 3>&-
}

launch() { on_cluster srun -N3 --ntasks-per-node=2 --mpi=pmix nccl-launch "$@"; }

# No rank, no launcher is left on any node.
nothing_left() {
  local pid
  for pid in $(processes supervise); do
    [[ ! "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)" =~ (nccl-launch|sleep\ 6[0-9][0-9]) ]] || return 1
  done
}

@test "the first failure is named, once, and the others end with its status" {
  # shellcheck disable=SC2016
  launch -- sh -c 'sleep 0.2; [ $RANK = 3 ] || exec sleep 600; echo "worker: out of cheese" >&2; exit 7'
  [ "$status" -eq 7 ]
  [[ "$output" == *"nccl-launch: rank 3 (server2, pid "*") failed first: exited with status 7, "*" after the start"* ]]
  [[ "$output" == *"worker: out of cheese"* ]]
  [ "$(grep -c '^nccl-launch: ' <<<"$output")" -eq 1 ]
  eventually nothing_left
}

@test "what NCCL said last is explained" {
  # shellcheck disable=SC2016
  launch -- sh -c '[ $RANK = 4 ] || exec sleep 600
    echo "h:1:2 [0] net_ib.cc:99 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<1> with status=12 opcode=0 len=0 vendor err 129"
    echo "RuntimeError: NCCL error: remote process exited or there was a network error" >&2; exit 1'
  [ "$status" -eq 1 ]
  [[ "$output" == *"NCCL said last: h:1:2 [0] net_ib.cc:99 NCCL WARN NET/IB"* ]]
  [[ "$output" == *"RDMA gave up"* ]]
}

@test "a signal is the status and named; a rank that ignores SIGTERM is killed after the grace period" {
  # shellcheck disable=SC2016
  launch --grace 1 -- sh -c '[ $RANK = 1 ] && kill -SEGV $$; trap "" TERM; while :; do sleep 0.1; done'
  [ "$status" -eq 139 ]
  [[ "$output" == *"rank 1 (server1, pid "*"failed first: killed by signal 11 (SIGSEGV)"* ]]
  eventually nothing_left
}

@test "a program that is missing on one node is named before anything starts" {
  needs_pmix
  # shellcheck disable=SC2016
  run -127 "$CLUSTER" run --name supervise srun -N3 --ntasks-per-node=1 --mpi=pmix sh -c '
    [ $SLURMD_NODENAME = server2 ] || { echo "#!/bin/sh" >/tmp/tool; echo echo ran >>/tmp/tool; chmod +x /tmp/tool; }
    exec nccl-launch -- /tmp/tool' 3>&-
  [[ "$output" == *"nccl-launch: /tmp/tool: not found: No such file or directory on server2"* ]]
  [[ "$output" != *ran* ]]
  [ "$(grep -c '^nccl-launch: ' <<<"$output")" -eq 1 ]
}

@test "SIGUSR1 and SIGUSR2 reach each rank once; SIGTERM from outside is no failure of a rank" {
  cat >"$BATS_TEST_TMPDIR/job" <<'END'
#!/bin/bash
trap "echo rank \$RANK got USR1" USR1
trap "echo rank \$RANK got USR2; exit 0" USR2
touch /root/up.$RANK
while :; do sleep 0.05; done
END
  "$CLUSTER" run --name supervise bash -c 'cat >/root/signals.sh; chmod +x /root/signals.sh' <"$BATS_TEST_TMPDIR/job" 3>&-
  # shellcheck disable=SC2016
  on_cluster bash -c '
    rm -f /root/up.*
    ( until [ -e /root/up.0 ] && [ -e /root/up.1 ]; do sleep 0.05; done
      job=$(squeue -h -o %i | head -1); scancel -s USR1 $job; sleep 0.5; scancel -s USR2 $job ) &
    srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-launch -- /root/signals.sh'
  [ "$status" -eq 0 ]
  [ "$(grep -c 'got USR1' <<<"$output")" -eq 2 ]
  [ "$(grep -c 'got USR2' <<<"$output")" -eq 2 ]
  # shellcheck disable=SC2016
  on_cluster bash -c '
    rm -f /root/up.*
    ( until [ -e /root/up.0 ] && [ -e /root/up.1 ]; do sleep 0.05; done
      scancel -s TERM $(squeue -h -o %i | head -1) ) &
    srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-launch -- /root/signals.sh'
  [ "$status" -eq 143 ]
  [[ "$output" == *"ended from outside by signal 15 (SIGTERM)"* ]]
  [[ "$output" != *"failed first"* ]]
  eventually nothing_left
}

@test "output: a tag for each line, a file for each rank" {
  # shellcheck disable=SC2016
  launch --tag-output --log-dir /root/logs -- sh -c 'echo "out $RANK"; echo "err $RANK" >&2'
  [ "$status" -eq 0 ]
  [ "$(grep -c '^\[rank [0-5]\] out [0-5]$' <<<"$output")" -eq 6 ]
  [ "$(grep -c '^\[rank [0-5]\] err [0-5]$' <<<"$output")" -eq 6 ]
  on_cluster cat /root/logs/rank-4.log
  [[ "$output" == "# rank 4 of 6 on server3, job "*"out 4"* ]]
  [[ "$output" == *"err 4"* ]]
}

@test "a log folder that is full or not there ends the run before it starts" {
  launch --log-dir /no/such/folder -- echo ran
  [ "$status" -eq 125 ]
  [[ "$output" == *"/no/such/folder: cannot be made: No such file or directory"*"--log-dir"* ]]
  [[ "$output" != *ran* ]]
  launch --log-dir /proc/self -- echo ran
  [ "$status" -eq 125 ]
  eventually nothing_left
}

@test "--timeout and --no-output-timeout end the run with 124 and say what the ranks do" {
  launch --timeout 1 -- sleep 600
  [ "$status" -eq 124 ]
  [[ "$output" == *"nccl-launch: not done within --timeout 1.0 s"* ]]
  # shellcheck disable=SC2016
  launch --no-output-timeout 1 -- sh -c 'echo "step $RANK"; exec sleep 600'
  [ "$status" -eq 124 ]
  [[ "$output" == *"no rank printed anything for --no-output-timeout 1.0 s"* ]]
  [[ "$output" == *"ranks 0-5: S (sleeping)"* ]]
  [[ "$output" == *"last line: step 0"* ]]
  eventually nothing_left
}

@test "a rank that still writes is no hang" {
  # shellcheck disable=SC2016
  launch --no-output-timeout 3 -- sh -c '[ $RANK = 5 ] || exec sleep 4; for i in $(seq 15); do echo $i; sleep 0.3; done'
  [ "$status" -eq 0 ]
}

@test "a launcher that vanishes is a lost node" {
  # shellcheck disable=SC2016
  on_cluster srun -N3 --ntasks-per-node=1 --mpi=pmix nccl-launch -- sh -c '
    [ $RANK = 1 ] || exec sleep 600; sleep 0.3; kill -9 $PPID; exec sleep 600'
  [ "$status" -eq 137 ]
  [[ "$output" == *"nccl-launch: 1 of 3 nodes does not answer any more: server2"* ]]
  eventually nothing_left
}

@test "the report is kept as JSON, with Python's own error" {
  cat >"$BATS_TEST_TMPDIR/fails.py" <<'END'
import json, os, sys
if os.environ["RANK"] == "2":
    with open(os.environ["TORCHELASTIC_ERROR_FILE"], "w") as file:
        json.dump({"message": {"message": "ValueError: bad shape", "extraInfo": {}}}, file)
    sys.exit(1)
import time
time.sleep(600)
END
  "$CLUSTER" run --name supervise bash -c 'cat >/root/fails.py' <"$BATS_TEST_TMPDIR/fails.py" 3>&-
  on_cluster env NCCL_TUNE_REPORT_DIR=/root/reports srun -N3 --ntasks-per-node=1 --mpi=pmix nccl-launch -- python3 /root/fails.py
  [ "$status" -eq 1 ]
  [[ "$output" == *"Python's error: ValueError: bad shape"* ]]
  [[ "$output" == *"nccl-launch: report: /root/reports/failure-"*".json"* ]]
  # shellcheck disable=SC2016
  on_cluster bash -c 'python3 -c "
import glob, json
report = json.load(open(glob.glob(\"/root/reports/failure-*.json\")[0]))
print(report[\"first\"][\"rank\"], report[\"first\"][\"exit_code\"], report[\"nodes\"], report[\"ranks\"])"'
  [ "$output" = "2 1 3 3" ]
}

@test "--requeue-on puts a batch job back, once for each failure" {
  # shellcheck disable=SC2016
  on_cluster bash -c '
    cat >/root/again.sh <<"END"
#!/bin/bash
srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-launch --requeue-on exit:75 -- \
  sh -c "[ \$RANK = 1 ] || exec sleep 600; exit 75"
END
    job=$(sbatch --parsable --requeue -N2 --open-mode=append -o /root/again.out /root/again.sh)
    for try in $(seq 1 300); do
      grep -q "is requeued" /root/again.out 2>/dev/null && break
      sleep 0.1
    done
    cat /root/again.out; scontrol show job $job | grep -o "Restarts=[0-9]*"; scancel $job'
  [[ "$output" == *"rank 1 (server2, pid "*") failed first: exited with status 75"* ]]
  [[ "$output" == *" is requeued"* ]]
  [[ "$output" == *Restarts=1* ]]
}

@test "one task a node starts the ranks of the node" {
  # shellcheck disable=SC2016
  on_cluster srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-launch --procs-per-node 3 -- \
    sh -c 'echo "v $RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $WORLD_SIZE $NODE_RANK"'
  [ "$status" -eq 0 ]
  [ "$(grep '^v ' <<<"$output" | sort)" = "$(printf 'v %s\n' "0 0 3 6 0" "1 1 3 6 0" "2 2 3 6 0" "3 0 3 6 1" "4 1 3 6 1" \
    "5 2 3 6 1")" ]
  # shellcheck disable=SC2016
  on_cluster srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-launch --procs-per-node 2 -- sh -c '[ $RANK = 3 ] && exit 4; exec sleep 600'
  [ "$status" -eq 4 ]
  [[ "$output" == *"rank 3 (server2, pid "* ]]
  launch --procs-per-node 3 -- true
  [ "$status" -eq 125 ]
  [[ "$output" == *"--procs-per-node: 2 tasks on one node"*"--ntasks-per-node=1"* ]]
  eventually nothing_left
}

@test "--bind numa runs each rank on CPUs of its own" {
  # shellcheck disable=SC2016
  on_cluster srun -N1 --ntasks-per-node=1 -c2 --mpi=pmix nccl-launch --procs-per-node 2 --bind numa -- \
    sh -c 'echo "v $RANK $(grep Cpus_allowed_list /proc/self/status | cut -f2)"'
  [ "$status" -eq 0 ]
  [ "$(grep -c '^v ' <<<"$output")" -eq 2 ]
  [ "$(grep '^v ' <<<"$output" | cut -d' ' -f3 | sort -u | wc -l)" -eq "$(($(nproc) > 1 ? 2 : 1))" ]
}

@test "what a rank leaves running is heard to its end, as without us" {
  on_cluster srun -N1 -n1 --mpi=pmix nccl-launch -- bash -c 'exec > >(sleep 0.5; cat); seq 1 100000'
  [ "$status" -eq 0 ]
  [ "$(wc -l <<<"$output")" -eq 100000 ]
}

@test "limits of the task are said, or do not matter" {
  on_cluster srun -N1 -n2 --mpi=pmix sh -c 'ulimit -n 8; exec nccl-launch -- echo ran'
  [ "$status" -eq 125 ]
  [ "$(grep -c '^nccl-launch: only 8 open files are allowed' <<<"$output")" -eq 1 ]
  on_cluster srun -N1 -n1 --mpi=pmix sh -c 'ulimit -f 8; exec nccl-launch --log-dir /tmp/limit -- sh -c "seq 1 9000 >&2; sleep 0.2"'
  [ "$status" -eq 0 ]
  [ "$(grep -c "the log of this rank ends here" <<<"$output")" -eq 1 ]
  on_cluster srun -N2 --ntasks-per-node=1 --mpi=pmix env 'SLURM_STEP_TASKS_PER_NODE=1(x1000000000)' nccl-launch -- true
  [ "$status" -eq 125 ]
  [[ "$output" == *"SLURM_STEP_TASKS_PER_NODE: names more nodes than the step has tasks"* ]]
  on_cluster srun -N1 -n2 --mpi=pmix env SLURM_PROCID=77 nccl-launch -- true
  [ "$status" -eq 125 ]
  [[ "$output" == *"nccl-launch: "* ]]
}

@test "a launcher that is killed beside others of its node is named as a rank" {
  # shellcheck disable=SC2016
  launch -- sh -c '[ $RANK = 3 ] || exec sleep 600; sleep 0.3; kill -9 $PPID; exec sleep 600'
  [ "$status" -eq 137 ]
  [[ "$output" == *"nccl-launch: rank 3 (server2, pid "*"killed by signal 9"*"the nccl-launch of this rank was killed"* ]]
}

@test "--exec leaves no parent" {
  # shellcheck disable=SC2016
  launch --exec -- sh -c 'tr "\0" " " </proc/$PPID/cmdline'
  [ "$status" -eq 0 ]
  [[ "$output" != *nccl-launch* ]]
}

@test "cyclic tasks meet too" {
  # shellcheck disable=SC2016
  on_cluster srun -N3 -n5 -m cyclic --mpi=pmix nccl-launch -- sh -c 'echo "v $RANK $LOCAL_RANK $NODE_RANK = $SLURM_PROCID $SLURM_LOCALID $SLURM_NODEID"'
  [ "$status" -eq 0 ]
  [ "$(grep -cE '^v ([0-9] [0-9] [0-9]) = \1$' <<<"$output")" -eq 5 ]
  [[ "$output" == *"v 1 0 1 ="* ]]
}

@test "nodes that differ are said in a table of the odd ones, and --preflight=fail ends there" {
  # shellcheck disable=SC2016
  on_cluster srun -N3 --ntasks-per-node=1 --mpi=pmix sh -c '
    [ $SLURMD_NODENAME = server3 ] && export NCCL_IB_DISABLE=1; exec nccl-launch -- echo ran'
  [ "$status" -eq 0 ]
  [[ "$output" == *"the 3 nodes differ"* ]]
  [[ "$output" == *"NCCL_IB_DISABLE"*"server3"* ]]
  [ "$(grep -cx ran <<<"$output")" -eq 3 ]
  # shellcheck disable=SC2016
  on_cluster srun -N3 --ntasks-per-node=1 --mpi=pmix sh -c '
    [ $SLURMD_NODENAME = server3 ] && export NCCL_IB_DISABLE=1; exec nccl-launch --preflight=fail -- echo ran'
  [ "$status" -eq 125 ]
  [[ "$output" != *ran* ]]
  launch --preflight=off -- true
  [ "$status" -eq 0 ]
}

@test "--check compares and ends" {
  on_cluster srun -N3 --ntasks-per-node=2 --mpi=pmix --nccl-tune nccl-launch --check
  [ "$status" -eq 0 ]
  [[ "$output" == *"nccl-launch: 3 nodes, 6 ranks: they fit together"* ]]
}
