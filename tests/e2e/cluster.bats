#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The embedded cluster itself: its commands, what its nodes show, and that nothing of it is ever left behind.

bats_require_minimum_version 1.5.0
load cluster

setup_file() {
  make_state
  BEFORE=$(host_things)
  export BEFORE
  up shared
}

teardown_file() {
  remove_state
}

shared() { "$CLUSTER" "$1" --name shared "${@:2}" 3>&-; }

as_root_only() { [ "$(id -u)" = 0 ] || skip "needs root"; }

as_plain_user() {
  as_root_only
  make_plain_clone
}

plain_cluster() { "${PLAIN[@]}" "$PLAIN_CLUSTER" "$@"; }

@test "status lists nodes, states and machines" {
  run shared status
  [ "$status" -eq 0 ]
  [[ ${lines[1]} =~ ^NODE\ +STATE ]]
  for k in 1 2 3; do
    [[ ${lines[k + 1]} =~ ^server$k\ +idle\ +10\.0\.0\.1$k\ +1\ +server$k$ ]]
  done
}

@test "a second up is refused and harms nothing" {
  run up shared
  [ "$status" -eq 1 ]
  [[ $output == *'cluster "shared" is already up'*"tools/cluster down --name shared"* ]]
  run shared run true
  [ "$status" -eq 0 ]
}

@test "run passes exit status, input and output" {
  run shared run sh -c 'exit 7'
  [ "$status" -eq 7 ]
  run shared run -- sh -c 'kill -9 $$'
  [ "$status" -eq 137 ]
  run -127 shared run nosuch
  [ "$output" = "cluster: nosuch: no such program inside the cluster" ]
  [ "$(printf 'a\nb\n' | shared run --node server2 cat)" = $'a\nb' ]
  [ "$(shared run --node server2 hostname)" = server2 ]
  [ "$(shared run hostname)" = head ]
}

@test "a run that is ended ends its command" {
  run timeout 1 "$CLUSTER" run --name shared sleep 77 3>&-
  [ "$status" -eq 124 ]
  [ "$(grep -c . <<<"$output")" -eq 0 ]
  run shared run pgrep -x sleep
  [ "$status" -eq 1 ]
}

@test "bad options are refused with exit status 2" {
  check() {
    run "$CLUSTER" "${@:2}" 3>&-
    echo "$output"
    [ "$status" -eq 2 ] && [[ $output == *"$1"* ]]
  }
  check 'expected head, server1, server2, server3' run --name shared --node server4 true
  check '--user: got "bob"' run --name shared --user bob true
  check 'CMD: got ""' run --name shared
  check '--name: got "../x"' up --name ../x
  check '--nodes: got "0"' up --name other --nodes 0
  check '--machine: got "nosuch"' up --name other --machine nosuch
  check '--bin: got "/proc/nonexistent"' up --name other --bin /proc/nonexistent
  NCCL_TUNE_BIN=/proc/nonexistent check 'NCCL_TUNE_BIN: got "/proc/nonexistent"' up --name other
  check 'NODE: got "server9"' set --name shared server9 sys/x 1
  check 'PATH: got "../../conf/slurm.conf"' set --name shared server1 ../../conf/slurm.conf 1
  check 'No such file' set --name shared server1 sys/nosuch 1
  check 'NODE: got "server9"' logs --name shared server9
  check 'NODE: got "nosuch"' shell --name shared nosuch
  check 'CMD: got ""' run --name shared ''
  check '--lines: got "-1"' logs --name shared --lines -1
  check '--lines: got "0"' logs --name shared --lines 0
  check 'NODE: got ""' logs --name shared ''
  check 'VALUE: got "\xff", expected UTF-8' set --name shared server1 sys/class/infiniband/mlx5_1/ports/1/state $'\xff'
  check 'PATH: got "../\n"' set --name shared server1 $'../\n' 1
  check 'unrecognized arguments' status --nosuch
  [ ! -e "$NCCL_TUNE_CLUSTER_DIR/other" ]
}

@test "commands on a cluster that is not up say so" {
  run "$CLUSTER" run --name none true
  [ "$status" -eq 1 ]
  [[ $output == *'cluster "none" is not up'*"tools/cluster up --name none"* ]]
  run "$CLUSTER" status --name none
  [ "$status" -eq 1 ]
  run "$CLUSTER" down --name none
  [ "$status" -eq 0 ]
  [ ! -e "$NCCL_TUNE_CLUSTER_DIR/none" ]
}

@test "hints name the cluster; a value may begin with a dash" {
  local state=sys/class/infiniband/mlx5_1/ports/1/state
  [[ $(shared status) == *"hint: tools/cluster run --name shared srun -N3 hostname; tools/cluster shell --name shared server1" ]]
  run "$CLUSTER" status --name none
  [[ $output == *"hint: tools/cluster up --name none" ]]
  shared set server1 $state -- -x
  [ "$(shared run --node server1 cat /$state)" = -x ]
  shared set server1 $state '4: ACTIVE'
}

# Runs `up` on a small file system of its own, mounted with these options; prints what it leaves there.
up_on_tmpfs() {
  # shellcheck disable=SC2016
  unshare --mount sh -c 'mount -t tmpfs -o "$1" none "$2" && { NCCL_TUNE_CLUSTER_DIR=$2 "$3" up --name small --nodes 1
    status=$?; echo "left: $(find "$2" -mindepth 1)"; exit $status; }' sh "$1" "$BATS_TEST_TMPDIR" "$CLUSTER" 3>&-
}

@test "a state folder on a mount with noexec is refused with exit status 3" {
  as_root_only
  run up_on_tmpfs noexec
  [ "$status" -eq 3 ]
  [[ $output == *"small: got a mount with noexec, expected"*"NCCL_TUNE_CLUSTER_DIR"*"left: " ]]
}

@test "a full state folder ends in one clear line and leaves nothing" {
  local options
  as_root_only
  for options in size=4k size=64k nr_inodes=2 nr_inodes=3 nr_inodes=4 nr_inodes=20; do
    run up_on_tmpfs $options
    echo "$options: $output"
    [ "$status" -eq 1 ] || [ "$status" -eq 2 ]
    [[ $output == *"cluster: "*"/small: cannot "*"No space left on device; set NCCL_TUNE_CLUSTER_DIR"*"left: " ]]
    [[ $output != *Traceback* ]]
  done
}

@test "srun reaches every node" {
  [ "$(shared run srun -N3 hostname | sort | xargs)" = "server1 server2 server3" ]
}

@test "srun --mpi=pmix gives every task its rank" {
  needs_pmix
  # shellcheck disable=SC2016
  run shared run srun -N3 --ntasks-per-node=2 --mpi=pmix sh -c 'echo "$PMIX_RANK ${PMIX_NAMESPACE:+in} $(hostname)"'
  [ "$status" -eq 0 ]
  [ "$(sort -n <<<"$output" | xargs)" = \
    "0 in server1 1 in server1 2 in server2 3 in server2 4 in server3 5 in server3" ]
}

@test "sbatch runs a script, as alice where there is one" {
  local user=root
  [ "$(id -u)" = 0 ] && user=alice
  # shellcheck disable=SC2016
  shared run --user "$user" sh -c 'cd && printf "#!/bin/sh\nid -un\nsrun hostname\n" >job && sbatch -N3 -o out job'
  finished() { [ -z "$(shared run squeue -h)" ]; }
  eventually finished
  [ "$(shared run --user "$user" sh -c 'cd && sort out' | xargs)" = "$user server1 server2 server3" ]
}

@test "the GPU of a node is a gres, and there is no second one" {
  [ "$(shared run srun -N3 --gpus-per-node=1 printenv CUDA_VISIBLE_DEVICES | xargs)" = "0 0 0" ]
  run shared run srun -N1 --gpus-per-node=2 true
  [ "$status" -ne 0 ]
}

@test "a node shows its capture: devices, interfaces, addresses" {
  run shared run --node server2 sh -c 'cd /sys/class; cat infiniband/mlx5_*/ports/1/state infiniband/mlx5_1/ports/1/gids/3
    cat net/ens11f1/speed net/ens11f1/operstate net/ens11f1/device/vendor net/ens11f0/operstate; ls net | xargs
    ls ../bus/pci/devices | xargs; ip -4 -br addr show ens11f1; cat infiniband/mlx5_1/ports/1/gid_attrs/types/4'
  [ "${lines[0]}" = "1: DOWN" ]
  [ "${lines[1]}" = "4: ACTIVE" ]
  [ "${lines[2]}" = "0000:0000:0000:0000:0000:ffff:ac10:000c" ]
  [ "${lines[3]} ${lines[4]} ${lines[5]} ${lines[6]}" = "25000 up 0x15b3 down" ]
  [ "${lines[7]}" = "eno1 ens11f0 ens11f1 lo" ]
  [ "${lines[8]}" = "0000:00:01.0 0000:00:02.0 0000:00:03.0 0000:01:00.0 0000:02:00.0 0000:03:00.0 0000:03:00.1" ]
  [[ ${lines[9]} =~ ^ens11f1@[a-z0-9]+\ +UP\ +172\.16\.0\.12/24 ]]
  [[ ${lines[10]} == *"No such file"* ]]
}

@test "nodes meet on the fabric, the head is only on the management network" {
  local talk='import socket; s = socket.create_server((("172.16.0.12", 7777))); print("ok", flush=True)
s.settimeout(9); print(s.accept()[1][0])'
  shared run --node server2 /usr/bin/python3 -c "$talk" >"$BATS_TEST_TMPDIR/out" &
  local pid=$!
  eventually grep -q ok "$BATS_TEST_TMPDIR/out"
  shared run --node server1 /usr/bin/python3 -c 'import socket; socket.create_connection(("172.16.0.12", 7777), 9)'
  wait "$pid"
  [ "$(tail -1 "$BATS_TEST_TMPDIR/out")" = 172.16.0.11 ]
  [ "$(shared run ip -4 -o addr show scope global | grep -o 'inet [^ ]*')" = "inet 10.0.0.1/24" ]
}

@test "a port that goes down is seen at once, by a step too" {
  local state=sys/class/infiniband/mlx5_1/ports/1/state
  shared set server2 $state '1: DOWN'
  [ "$(shared run --node server2 cat /$state)" = "1: DOWN" ]
  [ "$(shared run srun -N3 cat /$state | sort | xargs)" = "1: DOWN 4: ACTIVE 4: ACTIVE" ]
  shared set server2 $state '4: ACTIVE'
  [ "$(shared run --node server2 cat /$state)" = "4: ACTIVE" ]
}

@test "an interface that goes down is seen in /sys" {
  shared run --node server3 ip link set ens11f1 down
  [ "$(shared run --node server3 cat /sys/class/net/ens11f1/operstate)" = down ]
  shared run --node server3 ip link set ens11f1 up
  [ "$(shared run --node server3 cat /sys/class/net/ens11f1/operstate)" = up ]
}

@test "each node has a /tmp, a /dev/shm and a munge socket of its own" {
  shared run srun -N3 sh -c 'hostname >/tmp/mine; hostname >/dev/shm/mine'
  for k in 1 2 3; do
    [ "$(shared run --node server$k cat /tmp/mine /dev/shm/mine | xargs)" = "server$k server$k" ]
  done
  [ "$(shared run srun -N3 stat -c %i /run/munge/munge.socket.2 | wc -l)" = 3 ]
  [ ! -e /tmp/mine ]
}

@test "logs shows the logs of all or of one node" {
  run shared logs
  [ "$status" -eq 0 ]
  [[ $output == *"--- slurmctld.log"*"server3"* || $output == *"--- server3.log"*"--- slurmctld.log"* ]]
  run shared logs server2 --lines 1
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "--- server2.log" ]
  [ "${#lines[@]}" -eq 2 ]
}

@test "a capture that is wrong is refused with file and line" {
  local bad=$BATS_TEST_TMPDIR/bad.capture
  sed 's/^: node-addr.*/: node-addres 10.0.0.1/' "$CLONE/tests/hosts/server1.capture" >"$bad"
  run up broken --machine "$bad"
  [ "$status" -eq 2 ]
  [[ $output == *'bad.capture:3: label: got "node-addres", expected one of name, node-addr, source' ]]
  printf 'in ../x\n' >>"$bad"
  sed -i 3d "$bad"
  run up broken --machine "server2=$bad"
  [ "$status" -eq 2 ]
  [[ $output == *'bad.capture:'*': path: got "../x", expected'* ]]
  [ ! -e "$NCCL_TUNE_CLUSTER_DIR/broken" ]
}

@test "a cluster that cannot start says why and leaves only its logs" {
  local odd=$BATS_TEST_TMPDIR/odd.capture
  sed 's/"ens11f0"/"all"/' "$CLONE/tests/hosts/server1.capture" >"$odd"
  run up odd --nodes 2 --machine "server2=$odd" --machine "server1=server3"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"cluster: head: ip: "*"all logs: "* ]]
  [ "$(ls "$NCCL_TUNE_CLUSTER_DIR/odd")" = $'lock\nlogs' ]
  "$CLUSTER" down --name odd
  [ ! -e "$NCCL_TUNE_CLUSTER_DIR/odd" ]
}

@test "five nodes of one capture: other addresses; a device that cannot be opened, by root neither" {
  local closed=$BATS_TEST_TMPDIR/closed.capture open='exec 3<>/dev/infiniband/'
  sed 's/^infiniband\/uverbs0 \* rw/infiniband\/uverbs0 * -/' "$CLONE/tests/hosts/server2.capture" >"$closed"
  up five --nodes 5 --machine "$closed"
  [ "$("$CLUSTER" run --name five srun -N5 sh -c 'cat /sys/class/infiniband/mlx5_1/ports/1/gids/3' | sort | cut -d: -f7- |
    xargs)" = "ac10:000b ac10:000c ac10:000d ac10:000e ac10:000f" ]
  [ "$("$CLUSTER" run --name five srun -N5 ip -4 -o addr show ens11f1 | grep -o '172[0-9.]*/' | sort | xargs)" = \
    "172.16.0.11/ 172.16.0.12/ 172.16.0.13/ 172.16.0.14/ 172.16.0.15/" ]
  [ "$("$CLUSTER" run --name five srun -N5 cat /sys/class/net/ens11f1/address | sort -u | wc -l)" = 5 ]
  run "$CLUSTER" run --name five --node server4 sh -c "${open}uverbs0"
  [ "$status" -ne 0 ]
  [[ $output == *"Permission denied"* ]]
  run "$CLUSTER" run --name five --node server4 sh -c "${open}uverbs1"
  [ "$status" -eq 0 ]
  run "$CLUSTER" down --name five
  [ "$status" -eq 0 ]
}

@test "drawn machines of other names and networks make a cluster" {
  needs_pmix
  /usr/bin/python3 "$CLONE/tests/tools/draw_machines.py" --seed 11 --nodes 2 --out "$BATS_TEST_TMPDIR/drawn"
  up drawn --nodes 2 --machine "server1=$BATS_TEST_TMPDIR/drawn/server1.capture" \
    --machine "server2=$BATS_TEST_TMPDIR/drawn/server2.capture"
  [ "$("$CLUSTER" run --name drawn srun -N2 --mpi=pmix hostname | sort | xargs)" = "server1 server2" ]
  "$CLUSTER" down --name drawn
}

@test "the product is copied, and its plugin is loaded by its real path" {
  local build=$BATS_TEST_TMPDIR/build
  mkdir -p "$build/cli" "$build/spank"
  printf '#!/bin/sh\necho tuned\n' >"$build/real"
  ln -s ../real "$build/cli/nccl-tune"
  touch "$build/spank/spank_nccl_tune.so"
  run up product --nodes 1 --bin "$build" --slurm-root /
  [[ $output == *"not built, left out: launcher/nccl-launch, bench/nccl-bench"* ]]
  [ "$("$CLUSTER" run --name product nccl-tune)" = tuned ]
  [ -x "$NCCL_TUNE_CLUSTER_DIR/product/bin/nccl-tune" ] && [ ! -L "$NCCL_TUNE_CLUSTER_DIR/product/bin/nccl-tune" ]
  "$CLUSTER" run --name product grep '^optional /run/cluster/bin/spank_nccl_tune.so' \
    /run/cluster/conf/plugstack.conf.d/nccl_tune.conf
  "$CLUSTER" down --name product
}

# From here on clusters die in all ways.

@test "the counting of what is left sees a cluster that is up" {
  [ "$(processes shared | wc -l)" -ge 13 ]
  [ "$(network_namespaces shared)" = 4 ]
}

@test "after a node's init is killed status shows it down, and down cleans" {
  up maimed
  kill -9 "$(node_pid maimed server2)"
  lost() { "$CLUSTER" status --name maimed | grep -q '^server2 *down'; }
  eventually lost
  "$CLUSTER" status --name maimed | grep -q '^server1 *idle'
  run "$CLUSTER" run --name maimed --node server2 true
  [ "$status" -eq 1 ]
  [[ $output == *"server2: it is down"* ]]
  run "$CLUSTER" down --name maimed
  [ "$status" -eq 0 ]
  nothing_left maimed
  [ ! -e "$NCCL_TUNE_CLUSTER_DIR/maimed" ]
}

@test "killing the head's init ends all; the next up cleans what is stale" {
  up killed --nodes 2
  kill -9 "$(head_pid killed)"
  nothing_left killed
  run "$CLUSTER" status --name killed
  [ "$status" -eq 1 ]
  [[ $output == *"a former one ended without"* ]]
  up killed --nodes 1
  [ "$("$CLUSTER" run --name killed sinfo -h -N -o %N)" = server1 ]
  "$CLUSTER" down --name killed
  nothing_left killed
}

@test "Ctrl-C during up leaves nothing" {
  local file
  for file in conf controller pids.json; do
    run up_until interrupted $file INT
    [ "$status" -eq 130 ]
    nothing_left interrupted
    [ ! -e "$NCCL_TUNE_CLUSTER_DIR/interrupted" ]
  done
}

@test "after kill -9 of up the head dies by itself" {
  local file
  for file in conf controller pids.json; do
    run up_until orphan $file KILL
    [ "$status" -eq 137 ]
    nothing_left orphan
  done
  "$CLUSTER" down --name orphan
  [ ! -e "$NCCL_TUNE_CLUSTER_DIR/orphan" ]
}

@test "down while a cluster is being started stops it" {
  up_until_down() {
    MARK=$NCCL_TUNE_CLUSTER_DIR/race "$CLUSTER" up --name race >/dev/null 2>&1 3>&- &
    local pid=$!
    eventually test -e "$NCCL_TUNE_CLUSTER_DIR/race/head"
    "$CLUSTER" down --name race
    wait "$pid"
  }
  run up_until_down
  [ "$status" -eq 1 ]
  nothing_left race
  [ ! -e "$NCCL_TUNE_CLUSTER_DIR/race" ]
}

@test "a plain user has a cluster too" {
  as_plain_user
  needs_pmix
  MARK=$NCCL_TUNE_CLUSTER_DIR/plain plain_cluster up --name plain --bin "$PLAIN_PRODUCT" 3>&-
  # shellcheck disable=SC2016
  [ "$(plain_cluster run --name plain srun -N3 --mpi=pmix --gpus-per-node=1 \
    sh -c 'echo $PMIX_RANK $CUDA_VISIBLE_DEVICES $(hostname)' | sort | xargs)" = "0 0 server1 1 0 server2 2 0 server3" ]
  run_mpi plain_cluster run --name plain srun -N3 --ntasks-per-node=1 --mpi=pmix --nccl-tune nccl-launch -- nccl-bench all_reduce -b 1K -e 4K -f 2
  [ "$status" -eq 0 ]
  [[ $output == *"# Out of bounds values : 0 OK"* ]]
  run plain_cluster run --name plain --user alice true
  [ "$status" -eq 2 ]
  kill -9 "$(node_pid plain server3)"
  plain_cluster status --name plain | grep -q '^server3 *down'
  plain_cluster down --name plain
  nothing_left plain
  [ ! -e "$NCCL_TUNE_CLUSTER_DIR/plain" ]
}

@test "a plain user's cluster leaves nothing when its head or its up is killed" {
  as_plain_user
  MARK=$NCCL_TUNE_CLUSTER_DIR/plain plain_cluster up --name plain --nodes 2 --bin "$PLAIN_PRODUCT" 3>&-
  kill -9 "$(head_pid plain)"
  nothing_left plain
  CLUSTER=$PLAIN_CLUSTER run up_until plain controller KILL "${PLAIN[@]}"
  [ "$status" -eq 137 ]
  nothing_left plain
  CLUSTER=$PLAIN_CLUSTER run up_until plain pids.json INT "${PLAIN[@]}"
  [ "$status" -eq 130 ]
  nothing_left plain
}

@test "where namespaces are refused up says so with exit status 3" {
  as_plain_user
  # shellcheck disable=SC2016
  run "${PLAIN[@]}" unshare --user --map-root-user sh -c \
    'echo 0 >/proc/sys/user/max_net_namespaces && "$1" up --name refused' sh "$PLAIN_CLUSTER"
  [ "$status" -eq 3 ]
  [[ $output == *"cluster: namespaces: got"*"expected them to be allowed"*"To do: "* ]]
  [ ! -e "$NCCL_TUNE_CLUSTER_DIR/refused" ]
}
