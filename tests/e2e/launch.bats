#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# nccl-launch on the embedded cluster: each rank's variables, exit codes, what it refuses.

bats_require_minimum_version 1.5.0
load cluster

setup_file() {
  make_state
  up launch
}

teardown_file() {
  remove_state
}

# Fills status and output.
on_cluster() {
  needs_pmix "$@"
  run_mpi "$CLUSTER" run --name launch "$@"
}

launch() { on_cluster srun -N3 --ntasks-per-node=2 --mpi=pmix nccl-launch "$@"; }

@test "each rank gets its variables" {
  # shellcheck disable=SC2016
  launch -- sh -c 'echo "v $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $NODE_RANK $GROUP_RANK"'
  [ "$status" -eq 0 ]
  [ "$(grep '^v ' <<<"$output" | sort)" = "$(printf 'v %s\n' "0 6 0 2 0 0" "1 6 1 2 0 0" "2 6 0 2 1 1" \
    "3 6 1 2 1 1" "4 6 0 2 2 2" "5 6 1 2 2 2")" ]
}

@test "torchrun's, JAX's and Open MPI's variables are there" {
  # shellcheck disable=SC2016
  launch -- sh -c 'echo v $RANK $ROLE_RANK $ROLE_WORLD_SIZE $ROLE_NAME $GROUP_WORLD_SIZE $JAX_PROCESS_ID \
      $JAX_NUM_PROCESSES $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK \
      $OMPI_COMM_WORLD_NODE_RANK $TORCHELASTIC_USE_AGENT_STORE $TORCHELASTIC_RESTART_COUNT
    [ "$JAX_COORDINATOR_ADDRESS" = "$MASTER_ADDR:$MASTER_PORT" ] || echo "coordinator $JAX_COORDINATOR_ADDRESS"
    [ "$TORCHELASTIC_RUN_ID" = "$SLURM_JOB_ID.$SLURM_STEP_ID" ] || echo "run id $TORCHELASTIC_RUN_ID"'
  [ "$status" -eq 0 ]
  [ "$(grep '^v ' <<<"$output" | sort)" = "$(for rank in 0 1 2 3 4 5; do
    echo "v $rank $rank 6 default 3 $rank 6 $rank 6 $((rank % 2)) $((rank % 2)) False 0"; done)" ]
  [[ $output != *"coordinator "* && $output != *"run id "* ]]
}

@test "what an outer torchrun has left is replaced, also where its ranks fit by chance" {
  # shellcheck disable=SC2016
  on_cluster env RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 MASTER_ADDR=outer MASTER_PORT=29500 TORCHELASTIC_RUN_ID=none \
    TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_ERROR_FILE=/tmp/outer srun -N1 -n1 --mpi=pmix nccl-launch -- \
    sh -c 'echo "v $MASTER_ADDR $TORCHELASTIC_USE_AGENT_STORE ${TORCHELASTIC_ERROR_FILE-none}"; echo "p $MASTER_PORT"'
  [ "$status" -eq 0 ]
  [[ $output == *"v server1 False none"* ]]
  [[ $output != *"p 29500"* ]]
}

@test "all ranks know one address and one port of rank 0" {
  # shellcheck disable=SC2016
  on_cluster env NCCL_SOCKET_IFNAME==ens11f1 srun -N3 --ntasks-per-node=2 --mpi=pmix nccl-launch -- \
    sh -c 'echo "m $MASTER_ADDR $MASTER_PORT"'
  [ "$status" -eq 0 ]
  [ "$(grep '^m ' <<<"$output" | sort -u | wc -l)" -eq 1 ]
  port=$(awk '/^m /{print $3; exit}' <<<"$output")
  [ "$port" -ge 20000 ] && [ "$port" -le 28000 ]
  [ "$(awk '/^m /{print $2; exit}' <<<"$output")" = 172.16.0.11 ]
}

@test "what the user has set stays" {
  # shellcheck disable=SC2016
  on_cluster env RANK=9 MASTER_PORT=1234 srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-launch -- \
    sh -c 'echo "v $RANK $MASTER_PORT $WORLD_SIZE"'
  [ "$status" -eq 0 ]
  [ "$(grep -c '^v 9 1234 2$' <<<"$output")" -eq 2 ]
}

@test "a nested step gets its own variables, not the outer step's" {
  # shellcheck disable=SC2016
  on_cluster srun -N1 -n1 -c2 --mpi=pmix nccl-launch -- \
    srun --overlap -N1 -n2 -c1 --mpi=pmix nccl-launch -- sh -c 'echo "v $RANK $WORLD_SIZE"'
  [ "$status" -eq 0 ]
  [ "$(grep '^v ' <<<"$output" | sort)" = "$(printf 'v 0 2\nv 1 2')" ]
}

@test "an MPI program works under it" {
  launch -- nccl-bench all_reduce --backend mpi -b 1K -e 1K
  [ "$status" -eq 0 ]
  [[ "$output" == *"# Out of bounds values : 0 OK"* ]]
}

@test "--verbose prints one table" {
  launch --verbose -- true
  [ "$status" -eq 0 ]
  [ "$(grep -c '^nccl-launch: 6 ranks, MASTER_ADDR ' <<<"$output")" -eq 1 ]
  [ "$(grep -cE '^server[123] +[0-9]-[0-9] ' <<<"$output")" -eq 3 ]
}

@test "the program's exit status is kept" {
  launch -- sh -c 'exit 5'
  [ "$status" -eq 5 ]
}

@test "a program that is not there is 127, one that cannot be executed 126" {
  needs_pmix
  run -127 "$CLUSTER" run --name launch srun -N3 --ntasks-per-node=2 --mpi=pmix nccl-launch -- ./no-such-program 3>&-
  [[ "$output" == *"nccl-launch: ./no-such-program: not found"* ]]
  launch -- /etc/passwd
  [ "$status" -eq 126 ]
  [[ "$output" == *"nccl-launch: /etc/passwd: cannot be executed"* ]]
}

@test "wrong use is 125, said once" {
  for bad in "--bogus -- true" "true" "--timeout x -- true" "--"; do
    # shellcheck disable=SC2086
    launch $bad
    [ "$status" -eq 125 ] || { echo "$bad: $status"; false; }
    [ "$(grep -c '^nccl-launch: ' <<<"$output")" -eq 1 ] || { echo "$bad: $output"; false; }
  done
}

@test "without --mpi=pmix the right line is named" {
  on_cluster srun -N2 --ntasks-per-node=1 nccl-launch -- true
  [ "$status" -eq 125 ]
  [ "$(grep -c 'srun --mpi=pmix nccl-launch' <<<"$output")" -eq 1 ]
  on_cluster nccl-launch -- true
  [ "$status" -eq 125 ]
  [[ "$output" == *"not a task of a Slurm step"* ]]
}

@test "an inner step without --mpi=pmix does not join the outer one" {
  on_cluster srun -N1 -n1 --mpi=pmix srun --overlap -N1 -n1 --mpi=none nccl-launch -- true
  [ "$status" -eq 125 ]
  [[ "$output" == *"inherited an outer step's: PMIX_NAMESPACE"* ]]
}

@test "a rank that never comes is waited for no longer than --start-timeout" {
  # shellcheck disable=SC2016
  on_cluster srun -N3 --ntasks-per-node=1 --mpi=pmix \
    sh -c '[ "$SLURM_PROCID" = 1 ] && exit 0; exec nccl-launch --start-timeout 2 -- true'
  echo "status $status: $output"  # shown when it fails
  [ "$status" -eq 125 ]
  # Whoever gives up first ends the step for all.
  [[ "$output" =~ "rank "[02]" of 3 waited 2000 ms" ]]
}

@test "a rank that loses its peers to a signal ends within its deadline" {
  local started=$SECONDS
  # shellcheck disable=SC2016
  on_cluster srun -N2 --ntasks-per-node=1 --mpi=pmix \
    sh -c '[ "$SLURM_PROCID" = 1 ] && kill -9 $$; exec nccl-launch --start-timeout 1 -- true'
  # srun ends with the status of the rank that waited, or of the one that was killed.
  [ "$status" -eq 125 ] || [ "$status" -eq 137 ]
  [ $((SECONDS - started)) -lt 20 ]
}

@test "a plan inherited from another node does not say where rank 0 is" {
  # shellcheck disable=SC2016
  on_cluster salloc -Q -N2 srun -N1 -w server2 --nccl-tune \
    sh -c 'srun --overlap -N2 -n2 --mpi=pmix --nccl-tune=off nccl-launch -- sh -c "echo v \$RANK \$(hostname) \$MASTER_ADDR"'
  [ "$status" -eq 0 ]
  [[ $output == *"v 0 server1 server1"* ]]
  [[ $output == *"v 1 server2 server1"* ]]
}

@test "where one node has lost its fabric the ranks still meet, and it is named" {
  "$CLUSTER" run --name launch --node server2 ip link set ens11f1 down 3>&-
  on_cluster srun -N3 --ntasks-per-node=1 --mpi=pmix --nccl-tune nccl-launch -- nccl-bench all_reduce -b 1K -e 1K
  "$CLUSTER" run --name launch --node server2 ip link set ens11f1 up 3>&-
  [ "$status" -eq 0 ]
  [[ $output == *"the nodes do not meet on one network: server2 has 10.0.0.0/24, the other 2 172.16.0.0/24"* ]]
  [[ $output == *"# Out of bounds values : 0 OK"* ]]
}
