#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# nccl-bench finds what is slow: a node and a link among four nodes, a rail of two.
# shellcheck disable=SC2030,SC2031 # output is that of each test

bats_require_minimum_version 1.5.0
load cluster

# Rates that a busy machine of two cores holds, too: what is slow must be so by its link alone.
FAST=160mbit
SLOW=40mbit
SIZES=(-b 1M -n 3)
LINK=ens11f1

setup_file() {
  make_state
  up search --nodes 4
  up rails --nodes 2 --machine h100-vm-dual-port-rails
}

teardown_file() {
  remove_state
}

teardown() {
  local node
  for node in 1 2 3 4; do head_run --node "server$node" tc qdisc del dev $LINK root 2>/dev/null || true; done
}

head_run() { "$CLUSTER" run --name search "$@" 3>&-; }

# Shapes what a node sends on its link. The queue holds all that waits: a dropped packet costs as much as a slow link.
shape() { head_run --node "$1" tc qdisc replace dev $LINK root tbf rate "$2" burst 64kb latency 1s; }
shape_all() { for node in 1 2 3 4; do shape "server$node" "$1"; done; }

# Shapes what a node sends to one address; the rest goes at the rate of all.
shape_to() {
  head_run --node "$1" sh -ec "
    tc qdisc del dev $LINK root
    tc qdisc add dev $LINK root handle 1: htb default 10
    tc class add dev $LINK parent 1: classid 1:10 htb rate $FAST burst 64kb quantum 6000
    tc class add dev $LINK parent 1: classid 1:20 htb rate $3 burst 64kb quantum 6000
    tc filter add dev $LINK parent 1: protocol ip u32 match ip dst $2 flowid 1:20"
}

# Fills status and output.
search() {
  needs_pmix
  run_mpi head_run env "${EAGER[@]}" "NCCL_SOCKET_IFNAME==$LINK" srun -N4 --ntasks-per-node=1 --mpi=pmix nccl-bench "$@" "${SIZES[@]}"
  echo "$output"  # shown where the test fails
}

@test "a node whose link has a quarter of the others' speed is named, and no other" {
  shape_all $FAST
  shape server3 $SLOW
  for mode in pairs bisect; do
    search $mode
    [ "$status" -eq 7 ]
    [ "$(grep -c '^# slow ' <<<"$output")" -eq 1 ]
    [[ "$output" == *"# slow node: server3: "* ]]
    [[ "$output" == *"# Search concluded: $mode: 1 slow node, 0 slow links"* ]]
    # Between the device list and the end there are only comments.
    run -1 grep -vE '^(#|nccl-bench: |srun: )' <<<"$output"
  done
}

@test "four equal nodes: nothing is named" {
  shape_all $FAST
  for mode in pairs bisect; do
    search $mode
    [ "$status" -eq 0 ]
    [[ "$output" == *"# nothing slow: a good pair has "* ]]
    [[ "$output" != *"# slow "* ]]
  done
}

@test "a link between two good nodes is named by pairs, in JSON and CSV too" {
  shape_all $FAST
  shape_to server2 "$(head_run --node server4 ip -4 -br addr show dev $LINK | awk '{ sub("/.*", "", $3); print $3 }')" $SLOW
  search pairs --json /tmp/link.json --csv /tmp/link.csv
  [ "$status" -eq 7 ]
  [ "$(grep -c '^# slow ' <<<"$output")" -eq 1 ]
  [[ "$output" == *"# slow link: server2 - server4: "* ]]
  [ "$(head_run --node server1 cat /tmp/link.csv | wc -l)" -eq 7 ]
  head_run --node server1 cat /tmp/link.json | /usr/bin/python3 -c '
import json, sys
found = json.load(sys.stdin)
assert found["mode"] == "pairs" and found["complete"] and found["slow_nodes"] == []
assert [link["nodes"] for link in found["slow_links"]] == [["server2", "server4"]]'
}

@test "wrong data is told with the nodes" {
  needs_pmix
  run_mpi head_run env NCCL_BENCH_TEST_CORRUPT=1:5 srun -N3 --ntasks-per-node=1 --mpi=pmix nccl-bench pairs -b 64 -n 2
  [ "$status" -eq 7 ]
  [[ "$output" == *"# wrong data: server1, server2"* ]]
  [[ "$output" == *"nccl-bench: wrong data: server2: sendrecv of 16 float in group 0: rank 1: 1 wrong"* ]]
}

@test "one node has nothing to compare with, and what a search cannot do is refused" {
  needs_pmix
  run_mpi head_run srun -N1 -n2 --mpi=pmix nccl-bench bisect -b 64
  [ "$status" -eq 6 ]
  [[ "$output" == *"all ranks are on server1: two are needed, three to tell a slow one"* ]]
  for bad in "pairs -t 2" "pairs -d all" "bisect hypercube" "pairs --per-rail"; do
    # shellcheck disable=SC2086
    run_mpi head_run srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-bench $bad
    [ "$status" -eq 6 ] || { echo "$bad: $status $output"; false; }
  done
}

@test "processes with other flags than the first end all, and the node is named" {
  needs_pmix
  local other
  for other in "bisect -b 1M" "pairs all_gather -b 1M" "pairs -b 2M"; do
    for _ in 1 2 3 4; do
      # shellcheck disable=SC2016
      run head_run env OMPI_MCA_opal_signal= timeout 60 srun --kill-on-bad-exit=1 -N3 --ntasks-per-node=1 --mpi=pmix sh -c '
        [ "$SLURM_PROCID" = 2 ] || exec nccl-bench pairs -b 1M
        exec nccl-bench $1' sh "$other"
      [[ $output == *": Segmentation fault"* ]] || break # Open MPI crashed in MPI_Init
    done
    [ "$status" -eq 6 ] || { echo "$other: $status $output"; false; }
    [[ "$output" == *"nccl-bench: process 2 (server3) was started with other flags, "* ]]
  done
}

@test "a signal to one process or to all ends the search, and process 0's JSON and CSV say so" {
  needs_pmix
  local to
  shape_all 50mbit
  for to in 0 2 all; do
    # shellcheck disable=SC2016
    run head_run env "NCCL_SOCKET_IFNAME==$LINK" timeout 60 srun -N3 --ntasks-per-node=1 --mpi=pmix sh -c '
      [ "$1" != all ] && [ "$SLURM_PROCID" != "$1" ] || { (sleep 3; kill -TERM $$) & }
      exec nccl-bench pairs -b 2M -n 20 --json "/tmp/ended$1.json" --csv "/tmp/ended$1.csv"' sh "$to"
    echo "$to: $status: $output"
    [ "$status" -eq 143 ] || [ "$status" -eq 137 ]
    [ "$(grep -c 'ended by signal 15 (Terminated)' <<<"$output")" -eq 1 ]
    [[ "$output" == *"nccl-bench: server$([ "$to" = 2 ] && echo 3 || echo 1): ended by signal 15 (Terminated)"* ]]
    head_run --node server1 test -e "/tmp/ended$to.csv"
    head_run --node server1 cat "/tmp/ended$to.json" | /usr/bin/python3 -c '
import json, sys
found = json.load(sys.stdin)
assert not found["complete"]
assert sys.argv[1] == "2" or found["error"] == "ended by signal 15 (Terminated)", found' "$to"
  done
}

@test "a process that dies in the middle ends the search, and the JSON file is valid" {
  needs_pmix
  shape_all 50mbit
  run head_run env "NCCL_SOCKET_IFNAME==$LINK" timeout 60 srun -K -N3 --ntasks-per-node=1 --mpi=pmix sh -c \
    "[ \$SLURM_PROCID != 2 ] || { (sleep 2; kill -9 \$\$) & }
     exec nccl-bench pairs -b 2M -n 20 --json /tmp/dies.json"
  [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
  [[ "$output" != *"concluded"* ]]
  head_run --node server1 cat /tmp/dies.json |
    /usr/bin/python3 -c 'import json, sys; assert not json.load(sys.stdin)["complete"]'
}

PLAN='{"v":1,"node":"x","set":{},"ports":[{"hca":"mlx5_1","port":1,"link":"Ethernet","gbps":400,"netdev":"rail0"},{"hca":"mlx5_2","port":1,"link":"Ethernet","gbps":400}]}'

on_rails() { "$CLUSTER" run --name rails "$@" 3>&-; }

# shape_rails FIRST SECOND: rates of the two rails, on both nodes.
shape_rails() {
  local node rail
  for node in 1 2; do
    for rail in 0 1; do
      on_rails --node "server$node" tc qdisc replace dev "rail$rail" root tbf \
        rate "$([ $rail = 0 ] && echo "$1" || echo "$2")" burst 64kb latency 1s
    done
  done
}

# Fills status and output.
per_rail() {
  needs_pmix
  run_mpi "$CLUSTER" run --name rails env "${EAGER[@]}" NCCL_TUNE_PLAN="$PLAN" srun -N2 --ntasks-per-node=1 --mpi=pmix \
    nccl-bench all_reduce --per-rail -b 1M -e 1M -n 3 "$@"
  echo "$output"  # shown where the test fails
}

# The best busbw of a rail's JSON file, and that of the table's line.
busbw_of() {
  on_rails --node server1 cat "$1" | /usr/bin/python3 -c '
import json, sys
rows = json.load(sys.stdin)["results"]
print("%.3f" % max(row[place]["bus_bw"] for row in rows for place in ("out_of_place", "in_place")))'
}
line_of() { grep "^# $1  " <<<"$output"; }

@test "the slow rail of two is named after four measurements, each rail has files with its best" {
  local rail
  shape_rails $FAST $SLOW
  on_rails --node server1 sh -c 'mkdir /tmp/rails && touch /tmp/rails/r.mlx5_1_1.json'
  per_rail --json /tmp/rails/r.json --csv /tmp/rails/r
  [ "$status" -eq 7 ]
  [[ "$output" == *"# slow rail: 1 mlx5_2:1: "*" GB/s, the best of 4 measurements, under 80 % of the others"* ]]
  [[ "$output" == *"# Rails concluded: 1 of 2 slow"* ]]
  [ "$(grep -c '^#  Rank ' <<<"$output")" -eq 2 ]
  [ "$(grep -c 'nccl-bench: rail 1, measured [123] times, again: ' <<<"$output")" -eq 3 ]
  [ "$(line_of 1 | awk '{print $6, $7}')" = "4 slow" ]
  # A name that is taken gets a number; nothing else is left.
  [ "$(on_rails --node server1 sh -c 'ls /tmp/rails' | xargs)" = \
    "r.mlx5_1_1 r.mlx5_1_1.json r.mlx5_1_1.json.0 r.mlx5_2_1 r.mlx5_2_1.json" ]
  [[ "$output" == *"; results in /tmp/rails/r.mlx5_2_1.json, /tmp/rails/r.mlx5_2_1"* ]]
  [ "$(busbw_of /tmp/rails/r.mlx5_1_1.json.0)" = "$(line_of 0 | awk '{print $4}')" ]
  [ "$(busbw_of /tmp/rails/r.mlx5_2_1.json)" = "$(line_of 1 | awk '{print $4}')" ]
  for rail in 1 2; do [ "$(on_rails --node server1 cat "/tmp/rails/r.mlx5_${rail}_1" | wc -l)" -eq 2 ]; done
}

@test "two equal rails: none is named" {
  shape_rails $FAST $FAST
  per_rail
  [ "$status" -eq 0 ]
  [[ "$output" == *"# all rails are alike"* ]]
  [[ "$output" == *"# Rails concluded: 0 of 2 slow"* ]]
}

@test "--per-rail: files that cannot be made end it with 6 before anything is measured, those that get lost later with 1" {
  local long file message
  shape_rails $FAST $FAST
  long=$(printf '%0247d' 0)
  # r.json of a long name is well, with a rail's name it is not.
  while IFS='|' read -r file message; do
    per_rail --json "$file"
    [ "$status" -eq 6 ]
    [ "$(grep -c "$message" <<<"$output")" -eq 1 ]
    [[ "$output" != *"# "* && "$output" != *"nccl-bench: rail "* ]]
  done <<EOF
/tmp/$long|: cannot be made: File name too long. Name a shorter one
/tmp/none/r.json|/tmp/none/r.mlx5_1_1.json: cannot be made: No such file or directory. Make its folder first
/tmp/|/tmp/: cannot be made: this is the name of a folder
EOF
  [ -z "$(on_rails --node server1 sh -c 'ls /tmp | grep 000')" ]
  on_rails --node server1 sh -c 'mkdir /tmp/full && mount -t tmpfs -o size=4k tmpfs /tmp/full && dd if=/dev/zero of=/tmp/full/one bs=4k count=1'
  per_rail --json /tmp/full/r.json
  on_rails --node server1 sh -c 'ls /tmp/full | grep -v one; umount /tmp/full' >"$BATS_TEST_TMPDIR/left" || true
  [ "$status" -eq 1 ]
  [[ "$output" == *"# Rails concluded: 0 of 2 slow"* ]]
  [ "$(grep -c 'r.mlx5_1_1.json: cannot be written' <<<"$output")" -ge 1 ]
  [ ! -s "$BATS_TEST_TMPDIR/left" ]
}

@test "nodes with different numbers of rails are told apart before anything is measured" {
  needs_pmix
  # shellcheck disable=SC2016
  run_mpi "$CLUSTER" run --name rails srun -N2 --ntasks-per-node=1 --mpi=pmix sh -c '
    [ "$SLURM_PROCID" = 1 ] || export NCCL_TUNE_PLAN="{\"v\":1,\"node\":\"x\",\"set\":{},\"ports\":[{\"hca\":\"mlx5_1\",\"port\":1,\"link\":\"Ethernet\",\"gbps\":400}]}"
    exec nccl-bench all_reduce --per-rail -b 64 -e 64'
  [ "$status" -eq 6 ]
  [[ "$output" == *"--per-rail: the nodes have not the same number of rails: got \"server1 mlx5_1:1; server2 mlx5_1:1 mlx5_2:1"* ]]
}
