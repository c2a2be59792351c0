#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The real NCCL, where it is installed, takes the interface that we chose, and does on every machine and list what our
# model of it says. ncclGetUniqueId needs no GPU.

bats_require_minimum_version 1.5.0
load cluster

JUDGE=$CLONE/tests/nccl/judge_interfaces.py
BIN=$CLONE/bazel-bin/tests/nccl

# A server, a desktop with one cable and two with a ring, InfiniBand, a VLAN, a pod, a cloud node whose network is a
# /32, IPoIB beside the management network, a bond with the address twice, Slingshot, rails of IPv6.
MACHINES=(server1 spark-one-cable-f1 spark-ring-four-up spark-ring-four-up v100-4ib-1ethernet
          vlan-interface-carries-the-address volc-pod-mlx5_1-to-4 gcp-a3-high-gvnic dgx-a100-ipoib-bootstrap-fails
          container-no-verbs-virbr0-duplicate-ip slingshot-hsn bnxt-ipv6-ula-gid3)

setup_file() {
  make_state
  (cd "$CLONE" && . tools/bazel.bash &&
    bazel_command build --noshow_progress //tests/nccl:bootstrap_probe //tests/nccl:model_answers) \
    >"$NCCL_TUNE_CLUSTER_DIR/build.log" 2>&1 3>&- || { cat "$NCCL_TUNE_CLUSTER_DIR/build.log"; return 1; }
  # A copy that every namespace sees: the node's /tmp is its own.
  cp -L "$BIN/bootstrap_probe" "$NCCL_TUNE_CLUSTER_DIR/"
  "$NCCL_TUNE_CLUSTER_DIR/bootstrap_probe" >"$NCCL_TUNE_CLUSTER_DIR/here" 2>&1 || true
}

teardown_file() {
  remove_state
}

setup() {
  [[ $(cat "$NCCL_TUNE_CLUSTER_DIR/here") != *"no libnccl.so.2"* ]] ||
    skip "NCCL is not installed: no libnccl.so.2 found by the loader or in /usr/local/cuda/lib64"
}

# A cluster of a node for each of MACHINES, with the probe in it.
machines_up() {
  local node=0 machine options=()
  for machine in "${MACHINES[@]}"; do options+=(--machine "server$((node += 1))=$machine"); done
  up nccl --nodes "$node" "${options[@]}"
  cp "$NCCL_TUNE_CLUSTER_DIR/bootstrap_probe" "$NCCL_TUNE_CLUSTER_DIR/nccl/bin/"
}

@test "on nodes of a dozen machines NCCL takes the interface in NCCL_SOCKET_IFNAME" {
  needs_host NCCL
  machines_up
  run -0 "$CLUSTER" run --name nccl srun "-N${#MACHINES[@]}" --ntasks-per-node=1 --nccl-tune bootstrap_probe 3>&-
  local node variable taken rest seen=0
  while read -r node _ variable taken rest; do
    echo "$node: NCCL_SOCKET_IFNAME is $variable, NCCL took $taken $rest"
    [ "$variable" = "=$taken" ]
    seen=$((seen + 1))
  done <<<"$output"
  [ "$seen" = "${#MACHINES[@]}" ]
  # The interfaces are those of several machines, and a wrong one would have been seen.
  [ "$(cut -d' ' -f4 <<<"$output" | sort -u | wc -l)" -ge 6 ]
  run "$CLUSTER" run --name nccl srun -N1 -w server1 --nccl-tune env NCCL_SOCKET_IFNAME==eth9 bootstrap_probe 3>&-
  [ "$status" -ne 0 ]
  [[ $output == *"server1 "*" =eth9 none: "* ]]
}

@test "every captured machine: with our variables our interface, without any the one that the model says" {
  local version
  version=$(cut -d' ' -f2 "$NCCL_TUNE_CLUSTER_DIR/here")
  (cd "$CLONE" && "$BIN/model_answers" tests/hosts "$version") >"$BATS_TEST_TMPDIR/answers.json"
  run -0 /usr/bin/python3 "$JUDGE" machines "$NCCL_TUNE_CLUSTER_DIR/bootstrap_probe" "$BATS_TEST_TMPDIR/answers.json"
  echo "$output"
  [[ $output != *DIFF* ]]
  local captures
  captures=$(find "$CLONE/tests/hosts" -name '*.capture' | wc -l)
  [ "${lines[-1]}" = "$((2 * captures)) of $((2 * captures)) as expected" ]
}

@test "every row of the table of interfaces that holds for the installed NCCL" {
  run -0 /usr/bin/python3 "$JUDGE" table "$NCCL_TUNE_CLUSTER_DIR/bootstrap_probe"
  echo "$output"
  [[ $output != *DIFF* ]]
  [ "$(grep -c '^ok ' <<<"$output")" -ge 20 ]
}

@test "the judge sees a wrong row and a table that is none" {
  echo 'all | lo 127.0.0.1/8; eth0 10.0.0.5/24 |  | lo 127.0.0.1' >"$BATS_TEST_TMPDIR/wrong"
  run -1 /usr/bin/python3 "$JUDGE" table "$NCCL_TUNE_CLUSTER_DIR/bootstrap_probe" "$BATS_TEST_TMPDIR/wrong"
  [[ $output == *"DIFF line 1: "*"-> eth0 10.0.0.5, expected lo 127.0.0.1"* ]]
  : >"$BATS_TEST_TMPDIR/empty"
  run -1 /usr/bin/python3 "$JUDGE" table "$NCCL_TUNE_CLUSTER_DIR/bootstrap_probe" "$BATS_TEST_TMPDIR/empty"
  [[ $output == *"0 of 0 as expected"* ]]
  run -2 /usr/bin/python3 "$JUDGE" table
}
