#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --nccl-tune on a real Slurm: what each node's tasks get, and what they do not.

bats_require_minimum_version 1.5.0
load cluster

setup_file() {
  make_state
  up plan
}

teardown_file() {
  remove_state
}

# Runs a command on the login node, or on a node with --node.
head_run() { "$CLUSTER" run --name plan "$@" 3>&-; }

# One line a node: HOST HCA GID IFNAME.
SHOW='echo "$(hostname) ${NCCL_IB_HCA-none} ${NCCL_IB_GID_INDEX-none} ${NCCL_SOCKET_IFNAME-none}"'
one_each() { head_run srun -N3 --ntasks-per-node=1 "$@" | sort; }
expect_all() { printf 'server%d %s\n' 1 "$1" 2 "$1" 3 "$1"; }

all_nodes_idle() { [ "$(head_run sinfo -h -N -o %t | sort -u)" = idle ]; }

set_port() { "$CLUSTER" set --name plan "$1" sys/class/infiniband/mlx5_1/ports/1/state "$2" 3>&-; }

@test "each node's tasks get that node's values" {
  [ "$(one_each --nccl-tune sh -c "$SHOW")" = "$(expect_all '=mlx5_1:1 3 =ens11f1')" ]
}

@test "without the option a task's environment has nothing of ours" {
  run -0 head_run srun -N3 --ntasks-per-node=1 sh -c 'env | grep -c -e NCCL -e nccl_tune || true'
  [ "$output" = $'0\n0\n0' ]
}

@test "without the option the environment is the same byte for byte as without the plugin" {
  local conf=/run/cluster/conf/plugstack.conf.d
  # What differs between any two steps: ids, times and ports.
  local dump='env -0 | sort -z | grep -zvE "^(SLURM_(JOB_ID|JOBID|STEP_ID|STEPID|TASK_PID|SRUN_COMM_PORT|STEP_LAUNCHER_PORT|LAUNCH_NODE_IPADDR)|SRUN_DEBUG)=" | tr "\0" "\n"'
  head_run srun -N1 -w server1 sh -c "$dump" >"$BATS_TEST_TMPDIR/with"
  head_run sh -c "mv $conf $conf.away && mkdir $conf"
  run -0 head_run srun -N1 -w server1 sh -c "$dump"
  head_run sh -c "rmdir $conf && mv $conf.away $conf"
  diff "$BATS_TEST_TMPDIR/with" <(echo "$output")
}

@test "off sets nothing, also where the environment asks for it" {
  [ "$(one_each --nccl-tune=off sh -c "$SHOW")" = "$(expect_all 'none none none')" ]
  [ "$(one_each --export=ALL,NCCL_TUNE=auto --nccl-tune=off sh -c "$SHOW")" = "$(expect_all 'none none none')" ]
}

@test "NCCL_TUNE in the environment is the user's default" {
  [ "$(one_each --export=ALL,NCCL_TUNE=auto sh -c "$SHOW")" = "$(expect_all '=mlx5_1:1 3 =ens11f1')" ]
  run -0 --separate-stderr one_each --export=ALL,NCCL_TUNE=sometimes sh -c "$SHOW"
  [ "$output" = "$(expect_all 'none none none')" ]
  [[ $stderr == *'NCCL_TUNE="sometimes" is no mode'* ]]
}

@test "explain prints each node's reasons on stderr and sets" {
  run -0 --separate-stderr one_each --nccl-tune=explain sh -c "$SHOW"
  [ "$output" = "$(expect_all '=mlx5_1:1 3 =ens11f1')" ]
  for k in 1 2 3; do
    [[ $stderr == *"server$k: NCCL_IB_HCA         =mlx5_1:1"* ]]
    [[ $stderr == *"server$k:     RoCE v2 entry of 172.16.0.1$k on ens11f1"* ]]
  done
}

@test "dry-run prints and sets nothing" {
  run -0 --separate-stderr one_each --nccl-tune=dry-run sh -c "$SHOW"
  [ "$output" = "$(expect_all 'none none none')" ]
  [[ $stderr == *"server2: dry run, nothing is set"* ]]
  [[ $stderr == *"server2: NCCL_IB_HCA         =mlx5_1:1"* ]]
}

@test "auto prints nothing" {
  run -0 --separate-stderr one_each --nccl-tune true
  [ -z "$output$stderr" ]
}

@test "a bad mode is refused by srun, sbatch and salloc before anything starts" {
  for command in "srun --nccl-tune=fast true" "sbatch --nccl-tune=fast --wrap true" "salloc --nccl-tune=fast true"; do
    # shellcheck disable=SC2086  # words of one command
    run ! head_run $command
    [[ $output == *'unknown mode: got "fast", expected auto, off, explain, dry-run'* ]]
  done
  [ -z "$(head_run squeue -h)" ]
}

@test "--help lists the option" {
  run -0 head_run srun --help
  [[ $output == *"--nccl-tune=[MODE...]"* ]]
}

@test "what the user has set is kept, and said" {
  run -0 --separate-stderr head_run env NCCL_IB_HCA=mlx5_7 srun -N1 -w server2 --nccl-tune=explain sh -c "$SHOW"
  [ "$output" = "server2 mlx5_7 none =ens11f1" ]
  [[ $stderr == *"NCCL_IB_HCA         mlx5_7 (yours, kept)"* ]]
  [[ $stderr == *"NCCL_IB_GID_INDEX   (left unset)"* ]]
  run -0 head_run srun -N1 -w server2 --export=ALL,NCCL_SOCKET_IFNAME=eno1 --nccl-tune sh -c "$SHOW"
  [ "$output" = "server2 =mlx5_1:1 3 eno1" ]
}

@test "a batch job by #SBATCH: its script and its steps" {
  local out=/run/cluster/shared/plan.out script
  script=$(printf '#!/bin/sh\n#SBATCH -N3 --ntasks-per-node=1 --nccl-tune -o %s\n%s\nsrun --ntasks-per-node=1 sh -c '\''%s'\'' | sort\n' \
    "$out" "$SHOW" "$SHOW")
  head_run sh -c "mkdir -p /run/cluster/shared && rm -f $out && cat >/tmp/plan.sh && sbatch -Q /tmp/plan.sh" <<<"$script"
  eventually sh -c '[ -z "$('"$CLUSTER"' run --name plan squeue -h 3>&-)" ]'
  run -0 head_run cat "$out"
  [ "$output" = "server1 =mlx5_1:1 3 =ens11f1
$(expect_all '=mlx5_1:1 3 =ens11f1')" ]
}

@test "an allocation by salloc, and a step in it that turns it off" {
  run -0 head_run salloc -Q -N3 --ntasks-per-node=1 --nccl-tune sh -c "srun --ntasks-per-node=1 sh -c '$SHOW' | sort; srun -N1 -n1 -w server1 --nccl-tune=off sh -c '$SHOW'"
  [ "$output" = "$(expect_all '=mlx5_1:1 3 =ens11f1')
server1 none none none" ]
}

@test "a step started from a task computes ours again and keeps what the task changed" {
  run -0 head_run srun -N1 -n1 -w server1 --nccl-tune sh -c \
    "NCCL_SOCKET_IFNAME=eno1 srun -N1 -n1 --overlap --nccl-tune sh -c '$SHOW'; NCCL_IB_HCA=x srun -N1 -n1 --overlap --nccl-tune sh -c '$SHOW'"
  [ "$output" = "server1 =mlx5_1:1 3 eno1
server1 x none =ens11f1" ]
}

@test "off inside a tuned step takes ours away and leaves the user's" {
  run -0 head_run srun -N1 -n1 -w server1 --nccl-tune sh -c \
    "NCCL_IB_GID_INDEX=5 srun -N1 -n1 --overlap --nccl-tune=off sh -c '$SHOW; echo \${NCCL_TUNE_PLAN-none}'"
  [ "$output" = "server1 none 5 none
none" ]
}

@test "a user who is not root" {
  [ "$(id -u)" = 0 ] || skip "a plain user's cluster has one user"
  run -0 head_run --user alice srun -N3 --ntasks-per-node=1 --nccl-tune sh -c "$SHOW"
  [ "$(sort <<<"$output")" = "$(expect_all '=mlx5_1:1 3 =ens11f1')" ]
}

@test "all tasks of a node get the same, whatever GPU they have" {
  run -0 head_run srun -N1 -w server1 -n4 --nccl-tune sh -c "$SHOW"
  [ "$(sort -u <<<"$output")" = "server1 =mlx5_1:1 3 =ens11f1" ]
  run -0 head_run srun -N1 -w server1 -n1 --gpus-per-task=1 --nccl-tune sh -c "$SHOW"
  [ "$output" = "server1 =mlx5_1:1 3 =ens11f1" ]
}

@test "a port that goes down changes that node's plan and its explanation, and no other's" {
  set_port server2 "1: DOWN"
  run -0 --separate-stderr one_each --nccl-tune=explain sh -c "$SHOW"
  set_port server2 "4: ACTIVE"
  [ "$output" = "server1 =mlx5_1:1 3 =ens11f1
server2 none none =eno1
server3 =mlx5_1:1 3 =ens11f1" ]
  [[ $stderr == *"server2: NCCL_SOCKET_IFNAME  =eno1"* ]]
  [[ $stderr != *"server2: NCCL_IB_HCA         =mlx5_1:1"* ]]
  [[ $stderr == *"server2: NCCL_IB_HCA         (unset)"* ]]
  [[ $stderr =~ server2:\ +not\ +mlx5_[01]:1,\ mlx5_[01]:1:\ port\ is\ DOWN ]]
  [[ $stderr == *"server3: NCCL_IB_HCA         =mlx5_1:1"* ]]
  run -0 head_run --node server2 nccl-tune explain
  [[ $output == *"=mlx5_1:1"* ]]
}

@test "nccl-tune explain on a node says what is down" {
  set_port server3 "1: DOWN"
  run -0 head_run --node server3 nccl-tune explain
  set_port server3 "4: ACTIVE"
  [[ $output == *"not   mlx5_1:1, mlx5_0:1: port is DOWN"* || $output == *"not   mlx5_0:1, mlx5_1:1: port is DOWN"* ]]
}

@test "a state file that is empty costs that port only, with a note" {
  set_port server1 ""
  run -0 head_run --node server1 nccl-tune explain
  set_port server1 "4: ACTIVE"
  [[ $output == *"not a port state"* ]]
  [[ $output == *"NCCL_SOCKET_IFNAME  =eno1"* ]]
}

@test "detection that takes too long: the step goes on and says so" {
  local conf=/run/cluster/conf/plugstack.conf.d/nccl_tune.conf
  head_run sh -c "cp $conf /tmp/keep && sed -i 's/\\.so.*/.so timeout_ms=1/' $conf"
  run -0 head_run srun -N1 -w server1 --nccl-tune sh -c "$SHOW"
  head_run sh -c "cat /tmp/keep >$conf"
  [[ $output == *"server1 "* ]]
  # A quick machine may still answer within a millisecond; whatever it does, the job has run.
  [[ $output == *"no answer in time"* || $output == *"=mlx5_1:1 3 =ens11f1"* ]]
}

@test "a plugin of another release is refused by Slurm, and the job runs" {
  local so=/run/cluster/bin/spank_nccl_tune.so conf=/run/cluster/conf/plugstack.conf.d/nccl_tune.conf
  head_run sh -c "cp $conf /tmp/keep && cp $so /run/cluster/bin/other.so && echo 'optional /run/cluster/bin/other.so' >$conf"
  # The stamp is the number of the release: 22.05 is 0x1605xx. Another minor release is another number.
  head_run /usr/bin/python3 - <<'PY'
import re, subprocess
path = "/run/cluster/bin/other.so"
table = subprocess.run(["/usr/bin/nm", "-D", path], capture_output=True, text=True, check=True).stdout
offset = int(re.search(r"^([0-9a-f]+) R plugin_version$", table, re.M).group(1), 16)
with open(path, "r+b") as file:
    file.seek(offset)
    version = int.from_bytes(file.read(4), "little")
    file.seek(offset)
    file.write((version + 0x100).to_bytes(4, "little"))
PY
  run -0 head_run srun -N1 -w server1 sh -c 'echo ran'
  head_run sh -c "cat /tmp/keep >$conf; rm -f /run/cluster/bin/other.so"
  [[ $output == *"ran"* ]]
  [[ $output == *"ncompatible"* ]]
}

@test "no node was drained by any of this" {
  eventually all_nodes_idle
  run -0 head_run sinfo -h -R
  [ -z "$output" ]
}
