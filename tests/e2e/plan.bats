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
  local dump='env -0 | sort -z | grep -zvE "^(SLURM_(JOB_(ID|START_TIME|END_TIME|SLUID)|JOBID|STEP_ID|STEPID|TASK_PID|SRUN_COMM_PORT|STEP_LAUNCHER_PORT|LAUNCH_NODE_IPADDR)|SRUN_DEBUG)=" | tr "\0" "\n"'
  head_run srun -N1 -w server1 sh -c "$dump" >"$BATS_TEST_TMPDIR/with"
  head_run sh -c "mv $conf $conf.away && mkdir $conf"
  run -0 head_run srun -N1 -w server1 sh -c "$dump"
  head_run sh -c "rmdir $conf && mv $conf.away $conf"
  diff "$BATS_TEST_TMPDIR/with" <(echo "$output")
}

# Files that a node's Slurm and all that it starts open while a command runs, by strace.
opened_on_server1() {
  head_run --node server1 sh -c 'strace -f -qq -e trace=open,openat,openat2,readlink,readlinkat,access,stat,newfstatat \
    -o /tmp/opened -p "$(pidof slurmd | tr " " ",")" & echo $! >/tmp/strace.pid; wait' &
  eventually head_run --node server1 sh -c 'grep -q "^TracerPid:.[1-9]" /proc/$(pidof slurmd | cut -d" " -f1)/status'
  "$@"
  head_run --node server1 sh -c 'kill -INT $(pidof strace); while pidof strace >/dev/null; do sleep 0.05; done; cat /tmp/opened'
  wait
}

@test "a step that did not ask has no hardware looked at and no policy read" {
  run -0 opened_on_server1 head_run srun -N1 -w server1 true
  [[ $output == *"spank_nccl_tune.so"* ]] # so that strace saw the step at all
  [[ ! $output =~ infiniband|nccl-tune\.toml|class/net|nccl\.conf ]]
  run -0 opened_on_server1 head_run srun -N1 -w server1 --nccl-tune=off true
  [[ ! $output =~ infiniband|nccl-tune\.toml|class/net|nccl\.conf ]]
  run -0 opened_on_server1 head_run srun -N1 -w server1 --nccl-tune true
  [[ $output =~ infiniband ]]
  [[ $output =~ nccl-tune\.toml ]]
}

@test "off sets nothing, also where the environment asks for it" {
  [ "$(one_each --nccl-tune=off sh -c "$SHOW")" = "$(expect_all 'none none none')" ]
  [ "$(one_each --export=ALL,NCCL_TUNE=auto --nccl-tune=off sh -c "$SHOW")" = "$(expect_all 'none none none')" ]
}

@test "NCCL_TUNE in the environment is the user's default" {
  [ "$(one_each --export=ALL,NCCL_TUNE=auto sh -c "$SHOW")" = "$(expect_all '=mlx5_1:1 3 =ens11f1')" ]
  run -0 --separate-stderr one_each --export=ALL,NCCL_TUNE=sometimes sh -c "$SHOW"
  [ "$output" = "$(expect_all 'none none none')" ]
  [[ $stderr == *': NCCL_TUNE: unknown mode: got "sometimes"'*'leaving this step untuned'* ]]
}

# The tables of an explanation: the nodes that each is for.
tables() { sed -n 's/^nccl-tune: \([^ ].*\)/\1/p' <<<"$stderr"; }

@test "explain prints one table for the nodes with one plan on stderr, and sets" {
  run -0 --separate-stderr one_each --nccl-tune=explain sh -c "$SHOW"
  [ "$output" = "$(expect_all '=mlx5_1:1 3 =ens11f1')" ]
  [ "$(tables)" = "server[1-3] (3 nodes)" ]
  [ "$(grep -c 'nccl-tune:   NCCL_IB_HCA         =mlx5_1:1$' <<<"$stderr")" = 1 ]
  [[ $stderr == *"RoCE v2 entry of 172.16.0.11 on ens11f1"* ]]
  [[ $stderr != *"172.16.0.12"* ]]
  run -0 --separate-stderr head_run srun -N1 -w server2 --nccl-tune=explain sh -c "$SHOW"
  [ "$(tables)" = server2 ]
}

@test "explain on nodes with different plans: a table each, with its nodes" {
  run -0 --separate-stderr head_run env NCCL_TUNE=explain srun -N3 --ntasks-per-node=1 sh -c 'env | grep COLLECTOR || true'
  [ -z "$output" ]
  [ "$(tables)" = "server[1-3] (3 nodes)" ]
  set_port server2 "1: DOWN"
  run -0 --separate-stderr one_each --nccl-tune=explain true
  [ "$(tables)" = $'server[1,3] (2 nodes)\nserver2' ]
  # The same values everywhere, wrong on one node only.
  run -0 --separate-stderr head_run env NCCL_IB_HCA=mlx5_1 NCCL_SOCKET_IFNAME=eno1 srun -N3 --nccl-tune=explain true
  set_port server2 "4: ACTIVE"
  [ "$(tables)" = $'server[1,3] (2 nodes)\nserver2' ]
}

@test "explain where srun cannot be reached: each node says it itself" {
  run -0 --separate-stderr one_each --export=NONE --nccl-tune=explain true
  [ "$(tables | sort)" = $'server1\nserver2\nserver3' ]
}

@test "nothing of explain's collector stays behind" {
  run -0 --separate-stderr one_each --nccl-tune=explain true
  # Its name stands in comm; the head's processes are all in one pid namespace.
  none_collects() { ! head_run sh -c 'cat /proc/[0-9]*/comm 2>/dev/null' | grep -qx nccl-tune; }
  eventually none_collects
  # A reader of srun's output is not kept waiting by it.
  run -0 timeout 20 "$CLUSTER" run --name plan sh -c "srun -N3 --nccl-tune=explain true 2>&1 | cat | wc -l" 3>&-
  [ "$output" -gt 5 ]
}

@test "dry-run prints and sets nothing" {
  run -0 --separate-stderr one_each --nccl-tune=dry-run sh -c "$SHOW"
  [ "$output" = "$(expect_all 'none none none')" ]
  [[ $stderr == *"dry run, nothing is set"* ]]
  [[ $stderr == *"NCCL_IB_HCA         =mlx5_1:1"* ]]
}

@test "set and unset stand over the environment, on every node" {
  local show='echo "$(hostname) ${NCCL_IB_TC-none} ${NCCL_ALGO-none} ${NCCL_IB_HCA-none} ${NCCL_IB_GID_INDEX-none}"'
  run -0 one_each --export=ALL,NCCL_IB_TC=1,NCCL_ALGO=Ring --nccl-tune=set=NCCL_IB_TC:106,unset=NCCL_ALGO sh -c "$show"
  [ "$output" = "$(expect_all '106 none =mlx5_1:1 3')" ]
  run -0 --separate-stderr one_each --nccl-tune=set=NCCL_IB_HCA:=mlx5_1:1,,mlx5_0:1 sh -c "$show"
  [ "$output" = "$(expect_all 'none none =mlx5_1:1,mlx5_0:1 none')" ]
  [[ $stderr == "nccl-tune: server1: NCCL_IB_HCA==mlx5_1:1,mlx5_0:1: mlx5_0:1: its port is not active, so NCCL skips it" ]]
  run -0 --separate-stderr head_run srun -N1 -w server1 --nccl-tune=explain,set=NCCL_IB_TC:106,unset=NCCL_IB_HCA true
  [[ $stderr == *"NCCL_IB_TC          106 (--nccl-tune)"* ]]
  [[ $stderr == *"NCCL_IB_HCA         (left unset)"*"you ask for it to be left unset"* ]]
  # A nested step without the items starts from what the user had.
  run -0 head_run srun -N1 -n1 -w server1 --nccl-tune=set=NCCL_IB_TC:106 sh -c \
    "srun -N1 -n1 --overlap --nccl-tune=auto sh -c '$show'"
  [ "$output" = "server1 none none =mlx5_1:1 3" ]
}

@test "strict: a contradiction ends the step with 78, says why once a node, and drains nothing" {
  run -78 --separate-stderr head_run srun -N1 -n2 -w server1 --export=ALL,NCCL_IB_HCA==mlx5_7:1 --nccl-tune=strict sh -c "$SHOW"
  [ -z "$output" ]
  [ "$(grep -c 'nccl-tune: server1: strict: NCCL_IB_HCA==mlx5_7:1: there is no mlx5_7 on this node' <<<"$stderr")" = 1 ]
  [[ $stderr == *"nccl-tune: server1: strict: its tasks end with status 78"* ]]
  # Where all is well it also keeps NCCL from going on over sockets.
  run -0 --separate-stderr one_each --nccl-tune=strict sh -c 'echo "$(hostname) ${NCCL_NET-none}"'
  [ "$output$stderr" = "$(expect_all IB)" ]
  [ "$(one_each --nccl-tune sh -c 'echo "$(hostname) ${NCCL_NET-none}"')" = "$(expect_all none)" ]
  run -78 head_run srun -N3 -K --ntasks-per-node=1 --export=ALL,NCCL_IB_TIMEOUT=twenty --nccl-tune=strict true
  eventually all_nodes_idle
}

@test "strict in a batch job: it fails with 78, is not queued again and drains nothing" {
  local job
  job=$(head_run sbatch --parsable -N1 -w server1 -o /dev/null --export=ALL,NCCL_IB_TIMEOUT=twenty --nccl-tune=strict \
    --wrap true | tail -1)
  ended() { [[ $(head_run scontrol show job "$job") == *"JobState=FAILED"* ]]; }
  eventually ended
  [[ $(head_run scontrol show job "$job") == *"Restarts=0"*"ExitCode=78:0"* ]]
  eventually all_nodes_idle
}

@test "a value that will hurt is said once a step" {
  run -0 --separate-stderr one_each --export=ALL,NCCL_IB_HCA==mlx5_7:1 --nccl-tune true
  [ "$(grep -c 'there is no mlx5_7 on this node' <<<"$stderr")" = 1 ]
  [[ $stderr == "nccl-tune: server1: NCCL_IB_HCA==mlx5_7:1: there is no mlx5_7 on this node. There is "* ]]
}

@test "auto prints nothing" {
  run -0 --separate-stderr one_each --nccl-tune true
  [ -z "$output$stderr" ]
}

@test "a bad mode is refused by srun, sbatch and salloc before anything starts" {
  for command in "srun --nccl-tune=fast true" "sbatch --nccl-tune=fast --wrap true" "salloc --nccl-tune=fast true"; do
    # shellcheck disable=SC2086  # words of one command
    run ! head_run $command
    [[ $output == *'unknown mode: got "fast", expected auto, off, explain, dry-run, strict'* ]]
  done
  for item in set=PATH:/x set=NCCL_IB_TC:300 set=NCCL_IB_TC unset=LD_PRELOAD profile= set=NCCL_TUNE:off off,auto; do
    run ! head_run srun --nccl-tune=$item true
    [[ $output == *"error: nccl-tune: --nccl-tune: "*"expected "* ]]
  done
  [ -z "$(head_run squeue -h)" ]
}

@test "--help lists the option" {
  run -0 head_run srun --help
  [[ $output == *"--nccl-tune=[ITEM...]"*"set=NAME:VALUE"* ]]
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
  run -0 --separate-stderr head_run srun -N1 -n1 -w server1 --nccl-tune sh -c \
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

# The values of a batch script are those of its own node; a step on others must not inherit them.
@test "a tuned batch job's steps that say off have nothing of the first node's" {
  local script=$'#!/bin/sh\n#SBATCH -N3 --ntasks-per-node=1 -o /run/cluster/shared/off.out\n'"$SHOW"$'\n'
  local word shown="srun -l sh -c '$SHOW; echo \${NCCL_TUNE_PLAN-none}' | sed 's/^[0-9]*: //' | sort -u"
  head_run mkdir -p /run/cluster/shared
  for word in off dry-run bogus; do
    head_run sh -c 'cat >/tmp/off.sh && NCCL_TUNE=auto sbatch -W -Q /tmp/off.sh' <<<"${script}NCCL_TUNE=$word $shown"
    run -0 head_run grep -v nccl-tune: /run/cluster/shared/off.out
    [ "$output" = $'server1 =mlx5_1:1 3 =ens11f1\nnone\nserver1 none none none\nserver2 none none none\nserver3 none none none' ]
  done
}

@test "a user's own NCCL_TUNE_COLLECTOR is left alone" {
  [ "$(head_run env NCCL_TUNE_COLLECTOR=mine srun -N1 printenv NCCL_TUNE_COLLECTOR)" = mine ]
  [ "$(head_run env NCCL_TUNE_COLLECTOR=mine srun -N1 --nccl-tune printenv NCCL_TUNE_COLLECTOR)" = mine ]
}

@test "nothing of explain stays behind a stderr that nobody reads" {
  # shellcheck disable=SC2016  # the inner shell's
  run -0 timeout 30 "$CLUSTER" run --name plan bash -c '
    mkfifo /tmp/full; exec 3<>/tmp/full; head -c 65536 /dev/zero >/tmp/full
    srun -N3 --nccl-tune=explain true 2>/tmp/full; rm /tmp/full
    for i in $(seq 100); do pgrep -x nccl-tune >/dev/null || exit 0; sleep 0.05; done; exit 1' 3>&-
}

@test "values of 120 KB and thousands of variables cost no node its plan" {
  # shellcheck disable=SC2016
  run -0 --separate-stderr head_run bash -c '
    long=$(head -c 120000 /dev/zero | tr "\0" x); export NCCL_ALGO=$long NCCL_PROTO=$long NCCL_NET=$long NCCL_IB_TC=$long NCCL_DEBUG=$long
    for i in $(seq 3000); do export NCCL_A$i=1; done
    srun -N1 -w server1 --nccl-tune=explain sh -c "echo \$NCCL_IB_HCA"'
  [ "$output" = =mlx5_1:1 ]
  # shellcheck disable=SC2154
  [[ $stderr == *"(120000 bytes)"* ]]
}

@test "a user who is not root" {
  [ "$(id -u)" = 0 ] || skip "a plain user's cluster has one user"
  run -0 head_run --user alice srun -N3 --ntasks-per-node=1 --nccl-tune sh -c "$SHOW"
  [ "$(sort <<<"$output")" = "$(expect_all '=mlx5_1:1 3 =ens11f1')" ]
}

@test "a heterogeneous job, an array, --overlap and --export=NONE" {
  # srun has one value of an option for all components: the last one.
  run -0 --separate-stderr head_run srun -N1 -w server1 sh -c "$SHOW" : -N1 -w server2 --nccl-tune sh -c "$SHOW"
  [ "$(sort <<<"$output")" = "server1 =mlx5_1:1 3 =ens11f1
server2 =mlx5_1:1 3 =ens11f1" ]
  [ "$(one_each --export=NONE --nccl-tune /bin/sh -c "$SHOW")" = "$(expect_all '=mlx5_1:1 3 =ens11f1')" ]
  local script
  script=$(printf '#!/bin/sh\n#SBATCH -N1 --array=1-3 --nccl-tune -o /run/cluster/shared/array.%%a\n%s\n' "$SHOW")
  head_run sh -c "mkdir -p /run/cluster/shared && cat >/tmp/array.sh && sbatch -W -Q /tmp/array.sh" <<<"$script"
  run -0 head_run sh -c 'cat /run/cluster/shared/array.*'
  [ "$(cut -d" " -f2- <<<"$output" | sort -u)" = "=mlx5_1:1 3 =ens11f1" ]
  [ "$(wc -l <<<"$output")" = 3 ]
}

@test "all tasks of a node get the same, whatever GPU they have" {
  run -0 head_run srun -N1 -w server1 -n4 --nccl-tune sh -c "$SHOW"
  [ "$(sort -u <<<"$output")" = "server1 =mlx5_1:1 3 =ens11f1" ]
  run -0 head_run srun -N1 -w server1 -n1 --gpus-per-task=1 --nccl-tune sh -c "$SHOW"
  [ "$output" = "server1 =mlx5_1:1 3 =ens11f1" ]
}

@test "eight GPUs: a step that was given two, or tasks with one each, get the values of the whole node" {
  up eight --nodes 1 --machine h100-vm-dual-port-rails
  gpu_run() { "$CLUSTER" run --name eight "$@" 3>&-; }
  local whole
  whole=$(gpu_run --node server1 nccl-tune env --format conf | grep -v "^#" | sort)
  [[ $whole == *NCCL_IB_HCA==*,* ]]
  local way
  for way in "-n1" "-n1 --gpus=2" "-n8 --gpus-per-task=1"; do
    # shellcheck disable=SC2086  # several words
    run -0 gpu_run srun -N1 $way --nccl-tune sh -c 'env | grep -E "^(NCCL|GLOO|TP|NVSHMEM)_" | grep -v NCCL_TUNE | sort | paste -sd" "'
    [ "$(sort -u <<<"$output")" = "$(paste -sd" " <<<"$whole")" ]
  done
  [ "$(gpu_run srun -N1 -n1 --gpus=2 sh -c 'echo $CUDA_VISIBLE_DEVICES')" = 0,1 ]
  "$CLUSTER" down --name eight 3>&-
}

@test "a port that goes down changes that node's plan and its explanation, and no other's" {
  set_port server2 "1: DOWN"
  run -0 --separate-stderr one_each --nccl-tune=explain sh -c "$SHOW"
  set_port server2 "4: ACTIVE"
  [ "$output" = "server1 =mlx5_1:1 3 =ens11f1
server2 none none =eno1
server3 =mlx5_1:1 3 =ens11f1" ]
  local others=${stderr%nccl-tune: server2*} it=${stderr##*nccl-tune: server2}
  [[ $it == *"NCCL_SOCKET_IFNAME  =eno1"* ]]
  [[ $it != *"NCCL_IB_HCA         =mlx5_1:1"* ]]
  [[ $it == *"NCCL_IB_HCA         (unset)"* ]]
  [[ $it =~ not\ +mlx5_[01]:1,\ mlx5_[01]:1:\ port\ is\ DOWN ]]
  [[ $others == "nccl-tune: server[1,3] (2 nodes)"*"NCCL_IB_HCA         =mlx5_1:1"* ]]
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

@test "no node was drained by any of this" {
  eventually all_nodes_idle
  run -0 head_run sinfo -h -R
  [ -z "$output" ]
}
