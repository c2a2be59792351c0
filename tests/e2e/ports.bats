#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# MASTER_PORT: steps that start at once on a node, of whatever users, never get the same one; what is left open for it.

bats_require_minimum_version 1.5.0
load cluster

setup_file() {
  make_state
  up ports --nodes 1
  mkdir -m 1777 "$NCCL_TUNE_CLUSTER_DIR/ports/shared"
}

teardown_file() {
  remove_state
}

INSIDE=/run/cluster/shared

on_cluster() {
  needs_pmix --mpi=pmix
  run "$CLUSTER" run --name ports "$@" 3>&-
}

second_user() { if [ "$(id -u)" = 0 ]; then echo alice; else echo root; fi; }

# How many of the lines have the word.
count() { grep -c " $1 " <<<"$output" || true; }

@test "8 steps at once of two users in 8 ports, round after round" {
  local rounds=${NCCL_TUNE_ROUNDS:-5}
  on_cluster bash -c "$(cat "$BATS_TEST_DIRNAME/ports_rounds.sh")" ports_rounds.sh $INSIDE "$rounds" "$(second_user)"
  [ "$status" -eq 0 ]
  echo "# $rounds rounds of 8 steps: $(count listens) listen, $(count taken) collisions, $(count failed) failed" >&3
  grep -E " (taken|failed) " <<<"$output" || true # shown when it fails
  [ "$(count taken)" -eq 0 ]
  [ "$(count failed)" -eq 0 ]
  [ "$(count listens)" -eq $((rounds * 8)) ]
  # In each round each port once.
  [ "$(awk '$2 == "listens" {print $1, $3}' <<<"$output" | sort -u | wc -l)" -eq $((rounds * 8)) ]
  [ "$(id -u)" != 0 ] || [ "$(awk '$2 == "listens" {print $4}' <<<"$output" | sort -u | xargs)" = "0 2001" ]
}

@test "with plain exec a program finds one descriptor more, and only rank 0's" {
  # shellcheck disable=SC2016
  local show='set -- /proc/$$/fd/*; echo "fds $SLURM_PROCID $#"; for fd in /proc/$$/fd/1[0-9][0-9]; do
    [ ! -e "$fd" ] || echo "high $SLURM_PROCID $(readlink "$fd")"; done'
  on_cluster srun -N1 -n2 --mpi=pmix sh -c "$show"
  [ "$status" -eq 0 ]
  local before=$output
  on_cluster srun -N1 -n2 --mpi=pmix nccl-launch --exec -- sh -c "$show"
  [ "$status" -eq 0 ]
  local rank
  for rank in 0 1; do
    [ $(($(awk -v r=$rank '$1 == "fds" && $2 == r {print $3}' <<<"$output") - \
      $(awk -v r=$rank '$1 == "fds" && $2 == r {print $3}' <<<"$before"))) -eq $((1 - rank)) ]
  done
  [ "$(grep -c '^high 0 socket:' <<<"$output")" -eq 1 ]
  [ "$(grep -c '^high ' <<<"$output")" -eq 1 ]
}

@test "a range that is used up says who has it" {
  # The first step holds the only port while the second one looks.
  # shellcheck disable=SC2016
  on_cluster env NCCL_TUNE_PORT_RANGE=20100-20100 salloc -Q -N1 -n2 sh -c '
    srun -n1 --exact --mem=0 --mpi=pmix nccl-launch -- sh -c "touch $0/holds; while [ ! -e $0/go ]; do sleep 0.05; done" &
    while [ ! -e $0/holds ]; do sleep 0.05; done
    srun -n1 --exact --mem=0 --mpi=pmix nccl-launch -- true
    echo "status $?"; touch $0/go; wait' $INSIDE
  [[ $output == *"status 125"* ]]
  [[ $output == *"MASTER_PORT: none of the 1 ports from 20100 to 20100 is left on this node: 1 claimed by other nccl-launch of user "* ]]
  [[ $output == *"widen NCCL_TUNE_PORT_RANGE, or set MASTER_PORT yourself"* ]]
}

@test "the user's own port needs no range" {
  # shellcheck disable=SC2016
  on_cluster env NCCL_TUNE_PORT_RANGE=nonsense MASTER_PORT=1234 srun -N1 -n2 --mpi=pmix nccl-launch -- \
    sh -c 'echo "v $MASTER_PORT $JAX_COORDINATOR_ADDRESS"'
  [ "$status" -eq 0 ]
  [ "$(grep -c '^v 1234 server1:1234$' <<<"$output")" -eq 2 ]
}

@test "a wrong range is refused, one of the kernel's own ports is used and said" {
  local bad
  for bad in nonsense 0-10 28000-20000 80-443 20000-70000 ""; do
    on_cluster env NCCL_TUNE_PORT_RANGE="$bad" srun -N1 -n2 --mpi=pmix nccl-launch -- true
    [ "$status" -eq 125 ] || { echo "$bad: $status"; false; }
    [[ $output == *"nccl-launch: server1: NCCL_TUNE_PORT_RANGE: "*"got \"$bad\", expected FIRST-LAST"* ]]
  done
  on_cluster env NCCL_TUNE_PORT_RANGE=40000-40100 srun -N1 -n2 --mpi=pmix nccl-launch -- printenv MASTER_PORT
  [ "$status" -eq 0 ]
  [ "$(grep -c '^nccl-launch: NCCL_TUNE_PORT_RANGE: ports from 40000 to 40100 are used, but the kernel' <<<"$output")" -eq 1 ]
  [ "$(grep -c '^40[01]..$' <<<"$output")" -eq 2 ]
}
