#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What can go wrong on a node, one after the other: the job runs, the node stays, nothing is left, and what the user saw
# stands in docs/reliability.md (NCCL_TUNE_UPDATE=1 writes it anew).
# NCCL_TUNE_LONG=1: the long form, `tools/test --long=faults`.

bats_require_minimum_version 1.5.0
load cluster

PORT=/sys/class/infiniband/mlx5_1/ports/1
INSIDE=/run/cluster
if [ -n "${NCCL_TUNE_LONG:-}" ]; then ROW=1000 AT_ONCE=64; else ROW=60 AT_ONCE=12; fi

setup_file() {
  make_state
  up faults
  head_run sed -i "s|\(^optional .*\)|\1 policy=$INSIDE/conf/nccl-tune.toml|" $INSIDE/conf/plugstack.conf.d/nccl_tune.conf
  : >"$NCCL_TUNE_CLUSTER_DIR/seen"
}

teardown_file() { remove_state; }

teardown() { on_server1 sh -c 'for p in /run/undo.*; do [ -e "$p" ] && sh "$p"; rm -f "$p"; done; true'; }

head_run() { "$CLUSTER" run --name faults "$@" 3>&-; }
on_server1() { head_run --node server1 "$@"; }

# Runs a command on server1 whose undoing is the second one.
break_it() {
  on_server1 sh -c "echo '$2' >/run/undo.\$\$; $1"
}

files_of_node() { on_server1 sh -c 'find /tmp /run /dev/shm /var/spool -xdev 2>/dev/null | grep -vE "/run/undo|/run/cluster|slurmd.pid|cred_state" | sort'; }
no_step_left() { [ -z "$(head_run squeue -h)" ] && ! on_server1 pidof slurmstepd >/dev/null; }
all_idle() { [ "$(head_run sinfo -h -N -o %t | sort -u)" = idle ]; }

# Adds a row to the table: the fault, what the user saw.
seen() {
  # shellcheck disable=SC2154  # run sets it
  printf '| %s | %s |\n' "$1" "$(sed 's/ *$//; s/^/`/; s/$/`/' <<<"${stderr:-nothing}" | sed 's/^`nothing`$/nothing/' | paste -sd' ')" \
    >>"$NCCL_TUNE_CLUSTER_DIR/seen"
}

# Skips a fault that cannot be made here; its row stays as it is.
not_here() {
  grep -F "| $1 |" "$CLONE/docs/reliability.md" >>"$NCCL_TUNE_CLUSTER_DIR/seen"
  skip "$2"
}

# A step with that fault: it runs, nothing drains, nothing stays.
survives() {
  local fault=$1 before
  shift
  eventually no_step_left
  before=$(files_of_node)
  run -0 --separate-stderr head_run "$@" srun -N1 -w server1 --nccl-tune sh -c 'echo ran'
  [ "$output" = ran ]
  seen "$fault"
  eventually no_step_left
  [ "$(files_of_node)" = "$before" ]
  all_idle
}

@test "no RDMA devices in /sys" {
  break_it "mount -t tmpfs none /sys/class/infiniband" "umount /sys/class/infiniband"
  survives "/sys has no RDMA devices"
}

@test "no /sys at all" {
  break_it "mount -t tmpfs none /sys" "umount -l /sys"
  survives "/sys is empty"
}

@test "a /sys that the user may not read" {
  local fault="/sys/class/infiniband may not be read"
  [ "$(id -u)" = 0 ] || not_here "$fault" "a plain user's cluster has one user"
  break_it "mount -t tmpfs -o mode=700 none /sys/class/infiniband" "umount /sys/class/infiniband"
  survives "$fault" --user alice
}

@test "a state file that is a FIFO with a writer" {
  break_it "mkfifo /run/fifo; sleep 100 >/run/fifo & mount --bind /run/fifo $PORT/state" "umount $PORT/state; pkill -x sleep; rm /run/fifo"
  survives "a port's state blocks (a FIFO)"
}

# The process that reads it cannot be killed: it is left, and ends with the file system.
@test "a state file that never answers, and lets nobody go" {
  local fault="a port's state never answers, and its reader cannot be killed (FUSE)" log=$BATS_TEST_TMPDIR/log server
  [ "$(id -u)" = 0 ] || not_here "$fault" "needs root to mount"
  [ -w /dev/fuse ] || not_here "$fault" "this machine has no /dev/fuse"
  eventually no_step_left
  python3 "$BATS_TEST_DIRNAME/never_answers.py" "$(node_pid faults server1)" $PORT/state >"$log" 2>&1 3>&- &
  server=$!
  eventually grep -qx there "$log"
  run -0 --separate-stderr timeout 20 "$CLUSTER" run --name faults srun -N1 -w server1 --nccl-tune sh -c 'echo ran' 3>&-
  [ "$output" = ran ]
  seen "$fault"
  grep -qx asked "$log"
  all_idle
  [ -z "$(head_run squeue -h)" ]
  on_server1 pidof slurmstepd
  kill "$server"
  wait "$server" || true
  eventually no_step_left
  run -0 head_run srun -N1 -w server1 --nccl-tune sh -c 'echo ${NCCL_IB_HCA-none}'
  [ "$output" = none ]  # the mount is there still, and broken
  on_server1 umount $PORT/state
  run -0 head_run srun -N1 -w server1 --nccl-tune sh -c 'echo ${NCCL_IB_HCA-none}'
  [ "$output" = =mlx5_1:1 ]
}

@test "a state file of 100 MB" {
  break_it "head -c 100M /dev/zero >/run/huge; mount --bind /run/huge $PORT/state" "umount $PORT/state; rm /run/huge"
  survives "a port's state is 100 MB long"
}

@test "a state file of random bytes" {
  break_it "head -c 3000 /dev/urandom >/run/odd; mount --bind /run/odd $PORT/state" "umount $PORT/state; rm /run/odd"
  survives "a port's state is random bytes"
}

@test "a broken policy" {
  echo 'mode = sometimes' >"$NCCL_TUNE_CLUSTER_DIR/faults/conf/nccl-tune.toml"
  survives "the site's policy is broken"
  rm "$NCCL_TUNE_CLUSTER_DIR/faults/conf/nccl-tune.toml"
}

@test "a policy that is a folder" {
  mkdir "$NCCL_TUNE_CLUSTER_DIR/faults/conf/nccl-tune.toml"
  survives "the site's policy is a folder"
  rmdir "$NCCL_TUNE_CLUSTER_DIR/faults/conf/nccl-tune.toml"
}

@test "a full /tmp" {
  break_it "mount -t tmpfs -o size=64k none /tmp; head -c 1M /dev/zero >/tmp/full 2>/dev/null || true" "umount -l /tmp"
  survives "/tmp is full"
}

@test "slurmd reconfigured between steps" {
  survives "slurmd reads its configuration anew between steps"
  head_run scontrol reconfigure
  run -0 head_run srun -N1 -w server1 --nccl-tune sh -c 'echo ${NCCL_IB_HCA-none}'
  [ "$output" = =mlx5_1:1 ]
}

@test "steps in a row: slurmd does not grow, nothing is left" {
  local before after files
  size() { on_server1 sh -c 'awk "/VmRSS/{print \$2}" /proc/$(pidof slurmd | cut -d" " -f1)/status'; }
  row() { head_run salloc -Q -N1 -w server1 sh -c "for i in \$(seq $1); do srun -N1 -n1 --nccl-tune true || exit 1; done"; }
  row 10
  eventually no_step_left
  files=$(files_of_node) before=$(size)
  row $ROW
  eventually no_step_left
  after=$(size)
  [ "$(files_of_node)" = "$files" ]
  echo "# slurmd: $before kB before, $after kB after $ROW steps" >&3
  [ -n "${NCCL_TUNE_SANITIZED:-}" ] || [ "$after" -lt $((before + 512)) ]  # AddressSanitizer keeps what is freed
  all_idle
}

@test "steps at once" {
  run -0 head_run salloc -Q -N1 -w server1 -n16 sh -c "
    for i in \$(seq $AT_ONCE); do srun -N1 -n1 --overlap --nccl-tune sh -c 'echo \${NCCL_IB_HCA-none}' & done; wait"
  [ "$(sort <<<"$output" | uniq -c | sed 's/^ *//')" = "$AT_ONCE =mlx5_1:1" ]
  eventually no_step_left
  all_idle
}

@test "a node that crashes in the middle: the others' next steps are tuned" {
  head_run srun -N3 --ntasks-per-node=1 --nccl-tune sleep 60 >/dev/null 2>&1 &
  eventually head_run --node server3 pidof sleep
  kill -9 "$(node_pid faults server3)"
  head_run scancel -u root
  wait || true
  run -0 head_run srun -N2 -w server1,server2 --ntasks-per-node=1 --nccl-tune sh -c 'echo ${NCCL_IB_HCA-none}'
  [ "$output" = $'=mlx5_1:1\n=mlx5_1:1' ]
  [[ $(head_run sinfo -h -N -o %t) != *drain* ]]
}

@test "the table of what users see is docs/reliability.md's" {
  local doc=$CLONE/docs/reliability.md new
  new=$(sed '/^| fault | what the user sees |$/,$d' "$doc"; echo '| fault | what the user sees |'; echo '|---|---|'; cat "$NCCL_TUNE_CLUSTER_DIR/seen")
  [ -z "${NCCL_TUNE_UPDATE:-}" ] || echo "$new" >"$doc"
  diff <(echo "$new") "$doc"
}
