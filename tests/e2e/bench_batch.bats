#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The batch scripts of etc/sbatch through a real sbatch: result files, summary, exit status, a requeued job.

bats_require_minimum_version 1.5.0
load cluster

setup_file() {
  make_state
  up batch
  export QUICK="-b 64 -e 4K -f 8 -n 1"
}

teardown_file() {
  remove_state
}

in_cluster() { timeout 120 "$CLUSTER" run --name batch "$@" 3>&-; }
gone() { [ -z "$(in_cluster squeue -h -j "$1" 2>/dev/null)" ]; }

# submit SCRIPT [NAME=VALUE...]: waits for its end; fills job, status and output. The crash of Open MPI's start (cluster.bash)
# is tried again.
submit() {
  local script=$1 try
  shift
  needs_pmix
  in_cluster sh -c "cat >$script" <"$CLONE/etc/sbatch/$script"
  for try in 1 2 3 4; do
    # Its own handler of signals sometimes never ends. --wait: so that a crash costs 3 seconds.
    run in_cluster env OMPI_MCA_opal_signal= "BENCH_FLAGS=$QUICK" "BENCH_SRUN=--nccl-tune --wait=3" "$@" sbatch --parsable --wait "${OPTIONS[@]}" "$script"
    job=${lines[0]}
    output=$(in_cluster cat "nccl-bench-$job.out")
    [[ $output == *": Segmentation fault"* ]] || break
    echo "# Open MPI crashed in MPI_Init: once more ($try)" >&3
  done
}

setup() { OPTIONS=(--nodes=3); }

# The files of a job's folder, in one line.
files_of() { in_cluster sh -c "cd nccl-bench-results/$1 && ls" | xargs; }
json_of() { in_cluster cat "nccl-bench-results/$1" | python3 -c "import json, sys; r = json.load(sys.stdin); print($2)"; }
shows() { [[ $output == *"$1"* ]] || { echo "$output"; false; }; }

@test "one benchmark" {
  submit all_reduce.sbatch
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  shows "job $job on server[1-3]: results in nccl-bench-results/$job"
  [[ $output =~ "all_reduce "+" 3 nodes  best busbw"\ +[0-9.e-]+" GB/s  wrong 0 OK "+"exit 0" ]] || { echo "$output"; false; }
  [ "$(files_of "$job")" = "all_reduce.csv all_reduce.json all_reduce.log" ]
  [ "$(json_of "$job/all_reduce.json" 'len(r["results"]), r["nccl_bench"]["ranks"]')" = "3 3" ]
}

@test "the lines of the README for the embedded cluster" {
  needs_pmix
  local submits shows try
  submits=$(sed -n 's|^    tools/cluster run \(env BENCH_FLAGS=.*\) <etc/sbatch/all_reduce.sbatch$|\1|p' "$CLONE/README.md")
  shows=$(sed -n 's|^    tools/cluster run \(sh -c .*nccl-bench-.*\)$|\1|p' "$CLONE/README.md")
  [ -n "$submits" ] && [ -n "$shows" ]
  for try in 1 2 3 4; do
    in_cluster sh -c 'rm -rf nccl-bench-*'
    run eval "in_cluster $submits" <"$CLONE/etc/sbatch/all_reduce.sbatch"
    run eval "in_cluster $shows"
    [[ $output == *": Segmentation fault"* ]] || break
    echo "# Open MPI crashed in MPI_Init: once more ($try)" >&3
  done
  [[ $output =~ "all_reduce "+" 3 nodes  best busbw"\ +[0-9.e-]+" GB/s  wrong 0 OK "+"exit 0"$'\n' ]] || { echo "$output"; false; }
  [[ $output == *$'\nall_reduce.csv\nall_reduce.json\nall_reduce.log' ]]
}

@test "a sweep over numbers of nodes, with several tasks a node" {
  submit sweep.sbatch BENCH_PER_NODE=2 BENCH_COLLECTIVE=all_gather
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  [ "$(files_of "$job" | tr ' ' '\n' | grep json | xargs)" = "all_gather-2.json all_gather-3.json" ]
  [ "$(json_of "$job/all_gather-2.json" 'r["nccl_bench"]["ranks"]')" = 4 ]
  [ "$(json_of "$job/all_gather-3.json" 'r["nccl_bench"]["ranks"]')" = 6 ]
  [ "$(grep -c ' exit 0$' <<<"$output")" -eq 2 ]
}

@test "all collectives, and hypercube where it can" {
  submit collectives.sbatch
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  [ "$(grep -c ' wrong 0 OK  *exit 0$' <<<"$output")" -eq 10 ] || { echo "$output"; false; }
  shows "hypercube: left out, 3 ranks are no power of 2"
  OPTIONS=(--nodes=2)
  submit collectives.sbatch "BENCH_COLLECTIVES=hypercube" BENCH_SRUN=
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  [[ $output =~ "hypercube "+" 2 nodes  best busbw"\ +[0-9.e-]+" GB/s  wrong 0 OK "+"exit 0" ]] || { echo "$output"; false; }
}

@test "the best busbw of alltoallv is right where it lists what each rank sends" {
  in_cluster sh -c "printf '0 65536 4096\n64 0 131072\n4096 32768 0\n' >matrix"
  submit collectives.sbatch BENCH_COLLECTIVES=alltoallv "BENCH_FLAGS=-b 256K -e 256K -n 2 -S 1" \
    NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY=1 NCCL_TESTS_ALLTOALLV_MATRIX_FILE=/root/matrix
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  in_cluster grep -q 'PRINT_SUMMARY: mode=matrix nranks=3' "nccl-bench-results/$job/alltoallv.log"
  [[ $output =~ "alltoallv "+" 3 nodes  best busbw"\ +([0-9.]+)" GB/s  wrong 0 OK "+"exit 0" ]] || { echo "$output"; false; }
  [ "$(printf %.2f "${BASH_REMATCH[1]}")" = "$(json_of "$job/alltoallv.json" \
    '"%.2f" % max(x[p]["bus_bw"] for x in r["results"] for p in ("out_of_place", "in_place"))')" ]
}

@test "pairs" {
  # A rate that a busy machine of two cores holds, too: else a pair is slow by its processors' load.
  local node
  for node in 1 2 3; do
    in_cluster --node "server$node" tc qdisc replace dev ens11f1 root tbf rate 160mbit burst 64kb latency 1s
  done
  submit pairs.sbatch "BENCH_FLAGS=-b 1M -n 3" "${EAGER[@]}"
  for node in 1 2 3; do in_cluster --node "server$node" tc qdisc del dev ens11f1 root; done
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  [[ $output =~ "pairs "+" 3 nodes  pairs: "[^$'\n']*"  exit 0" ]] || { echo "$output"; false; }
  [ "$(files_of "$job" | tr ' ' '\n' | grep -c '^pairs\.')" -ge 2 ]
  shows "# Collective test starting: "
}

@test "a failed run is told, the others go on, and the first status is the job's" {
  submit collectives.sbatch "BENCH_COLLECTIVES=all_reduce all_together all_gather" NCCL_BENCH_TEST_CORRUPT=1:0
  [ "$status" -eq 7 ] || { echo "$output"; false; }
  [[ $output =~ "all_reduce "[^$'\n']*"FAILED "+"exit 7" ]] || { echo "$output"; false; }
  [[ $output =~ "all_together "[^$'\n']*"wrong - "+"exit 6" ]]
  shows "all_together: no collective of this name"
  [[ $output =~ "all_gather "[^$'\n']*"FAILED "+"exit 7" ]] || { echo "$output"; false; }
}

@test "a requeued job replaces nothing" {
  submit all_reduce.sbatch
  # As slurmctld starts a requeued job: the same number, and that of the restart.
  run in_cluster env SLURM_RESTART_COUNT=1 OMPI_MCA_opal_signal= "BENCH_FLAGS=$QUICK" salloc -Q -N2 \
    sh -c "SLURM_JOB_NUM_NODES=2 SLURM_RESTART_COUNT=1 BENCH_DIR=again bash all_reduce.sbatch &&
      BENCH_DIR=again SLURM_RESTART_COUNT=2 bash all_reduce.sbatch && ls again/\$SLURM_JOB_ID"
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  [ "$(grep -c '^all_reduce-restart[12]\.json$' <<<"$output")" -eq 2 ]
}
