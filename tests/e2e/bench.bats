#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# nccl-bench on the embedded cluster: its table, its exit codes, its data check.

bats_require_minimum_version 1.5.0
load cluster

setup_file() {
  make_state
  build //tests/perf:mpi_loop
  up bench
  cp -L "$CLONE"/bazel-bin/tests/perf/mpi_loop "$CLONE"/tools/measuring/bench_inside.py "$NCCL_TUNE_CLUSTER_DIR/bench/bin"
}

teardown_file() {
  remove_state
}

# Fills status and output.
on_cluster() {
  needs_pmix "$@"
  run_mpi "$CLUSTER" run --name bench "$@"
}

@test "a table over three nodes with right data" {
  on_cluster srun -N3 --ntasks-per-node=1 --mpi=pmix nccl-bench all_reduce -b 8 -e 1M -f 8
  [ "$status" -eq 0 ]
  [[ "$output" == *"# Out of bounds values : 0 OK"* ]]
  [ "$(grep -cE '^ +[0-9]+ +[0-9]+ +float +sum +-1 ' <<<"$output")" -eq 6 ]
  [ "$(grep -c '^#  Rank ' <<<"$output")" -eq 3 ]
  [[ "$output" == *"nccl-bench: backend mpi (host memory): "* ]]
}

@test "every type and operation is right on two ranks" {
  on_cluster srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-bench all_reduce -b 4K -e 4K -n 2 -d all -o all
  [ "$status" -eq 0 ]
  [[ "$output" == *"# Out of bounds values : 0 OK"* ]]
  [ "$(grep -cE '^ +4096 ' <<<"$output")" -eq 72 ] # 12 types, 6 operations
}

@test "each setting for Open MPI is said once" {
  on_cluster env NCCL_SOCKET_IFNAME==ens11f1 srun -N3 --ntasks-per-node=1 --mpi=pmix \
    nccl-bench all_reduce -b 8 -e 8
  [ "$status" -eq 0 ]
  [ "$(grep -c 'set OMPI_MCA_btl_tcp_if_include=ens11f1' <<<"$output")" -eq 1 ]
  [ "$(grep -c 'set OMPI_MCA_coll_tuned_allreduce_algorithm=4' <<<"$output")" -eq 1 ]
}

@test "the user's setting for Open MPI stands" {
  on_cluster env NCCL_SOCKET_IFNAME==ens11f1 OMPI_MCA_btl_tcp_if_exclude=lo,eno1 \
    srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-bench all_reduce -b 8 -e 8
  [ "$status" -eq 0 ]
  [[ "$output" != *"btl_tcp_if_include"* ]]
}

@test "wrong data is found, with rank and offset, and is exit 7" {
  on_cluster env NCCL_BENCH_TEST_CORRUPT=1:5 srun -N3 --ntasks-per-node=1 --mpi=pmix \
    nccl-bench all_reduce -b 64 -e 64
  [ "$status" -eq 7 ]
  [[ "$output" == *"# Out of bounds values : 2 FAILED"* ]]
  [[ "$output" == *"rank 1: 1 wrong, first at offset 5: got "*", expected "* ]]
}

@test "too little bandwidth is exit 7" {
  on_cluster env NCCL_TESTS_MIN_BW=1000 srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-bench all_reduce -b 64 -e 64
  [ "$status" -eq 7 ]
  [[ "$output" =~ "# Avg bus bandwidth    : "[0-9.e-]+" FAILED" ]]
}

@test "bad flags are exit 6, said once, before anything starts" {
  for bad in "-b 8X" "-Z 1" "-n 0" "-t 2" "-d real" "-b 0 -f 2" "-g 2"; do
    # shellcheck disable=SC2086
    on_cluster srun -N2 --ntasks-per-node=1 --mpi=pmix nccl-bench all_reduce $bad
    [ "$status" -eq 6 ] || { echo "$bad: $status"; false; }
    [ "$(grep -c '^nccl-bench: ' <<<"$output")" -eq 1 ] || { echo "$bad: $output"; false; }
    [[ "$output" != *"Collective test starting"* ]]
  done
  on_cluster nccl-bench all_together
  [ "$status" -eq 6 ]
  [[ "$output" == *"all_together: no collective of this name; there is all_reduce, all_gather, "* ]]
}

@test "without --mpi=pmix the right line is named" {
  on_cluster srun -N2 --ntasks-per-node=1 nccl-bench all_reduce
  [ "$status" -eq 6 ]
  [ "$(grep -c 'srun --mpi=pmix nccl-bench' <<<"$output")" -eq 1 ]
}

@test "without Slurm it is one rank" {
  needs_pmix # without it there is no MPI in the cluster
  on_cluster nccl-bench all_reduce -b 8 -e 8
  [ "$status" -eq 0 ]
  [ "$(grep -c '^#  Rank ' <<<"$output")" -eq 1 ]
}

@test "nccl-bench and a plain loop of MPI_Allreduce can still be compared, and both have the right sums" {
  # The script asks srun for PMIx.
  needs_pmix
  on_cluster timeout 120 salloc -Q -N3 --ntasks-per-node=1 /usr/bin/python3 /run/cluster/bin/bench_inside.py 1 3 1 --short
  echo "status $status: $output"
  [ "$status" -eq 0 ]
  run /usr/bin/python3 -c 'import json, sys
found = json.loads(sys.argv[1].splitlines()[-1])
print(found["settings"]["OMPI_MCA_btl_tcp_if_include"])
for part in ("together", "alone"):
    for name, sizes in sorted(found[part].items()):
        print(part, name, *(size for size, rows in sizes.items() if len(rows) == 1 and len(rows[0]) == 2))' "$output"
  echo "$output"
  [ "$output" = "ens11f1
together loop 8 1024 65536 1048576
together loop again 8 1024 65536 1048576
together nccl-bench 8 1024 65536 1048576
alone loop 8
alone loop again 8
alone nccl-bench 8" ]
}
