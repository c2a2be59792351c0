#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# nccl-bench's collectives and flags on the embedded cluster, over host memory: what each does to the table, the files
# and the exit status. What wrong use says is bench.bats.

bats_require_minimum_version 1.5.0
load cluster

HOME_OF_ALL=/root # of the clusters, the same on all nodes

setup_file() {
  make_state
  up flags
}

teardown_file() {
  remove_state
}

# step COMMAND...: a step, as run_mpi (cluster.bash). Open MPI's crash in MPI_Init is one before our first line; its own
# handler sometimes never ends, so it is turned off. Standard input as of in_cluster.
step() {
  needs_pmix
  for _ in 1 2 3 4; do
    run timeout 60 "$CLUSTER" run --name flags env OMPI_MCA_opal_signal= "${SET[@]}" srun --wait=5 --mpi=pmix "$@" </dev/null 3>&-
    [[ $output == *": Segmentation fault"* && $output != *"# Collective test starting"* ]] || return 0
    echo "# Open MPI crashed in MPI_Init: once more" >&3
  done
}

# bench RANKS ARGUMENT...: fills status and output; variables for it are in the array SET.
bench() {
  local ranks=$1
  shift
  step -n "$ranks" -N "$((ranks < 3 ? ranks : 3))" nccl-bench "$@"
}

setup() { SET=(); }

# Standard input is closed: srun would take the lines that a loop around it still has to read.
in_cluster() { timeout 60 "$CLUSTER" run --name flags "$@" </dev/null 3>&-; }

rows() { grep -E '^ +[0-9]+ +[0-9]+ ' <<<"$output" || true; }
# field NUMBER: of all rows, one line.
field() { rows | awk -v at="$1" '{print $at}' | xargs; }

is_right() {
  ends_with 0
  [[ $output == *"# Out of bounds values : 0 OK"* ]]
}
ends_with() { [ "$status" -eq "$1" ] || { echo "$status: $output"; false; }; }

@test "every collective has right data, its sizes and 13 words a row" {
  local collective sizes
  while read -r collective sizes; do
    bench 3 "$collective" -b 64 -e 4K -f 8 -n 2
    is_right || { echo "$collective"; false; }
    [ "$(rows | awk '{print NF}' | sort -u)" = 13 ]
    [ "$(field 1)" = "$sizes" ] || { echo "$collective: $(field 1)"; false; }
  done <<<'all_reduce 64 512 4096
    broadcast 64 512 4096
    reduce 64 512 4096
    sendrecv 64 512 4096
    all_gather 48 480 4080
    reduce_scatter 48 480 4080
    alltoall 48 480 4080
    alltoallv 48 480 4080
    gather 48 480 4080
    scatter 48 480 4080'
}

@test "hypercube: 2 and 4 ranks, 12 words a row; not 3" {
  local ranks
  for ranks in 2 4; do
    bench "$ranks" hypercube -b 64 -e 4K -f 8 -n 2
    is_right
    [ "$(rows | awk '{print NF}' | sort -u)" = 12 ]
    [ "$(field 1)" = "64 512 4096" ]
  done
  bench 3 hypercube -b 64 -e 64
  ends_with 6
  [ "$(grep -cx 'nRanks 3 is not a power of 2, skipping' <<<"$output")" -eq 1 ]
}

@test "wrong data is found in every collective, with rank and offset" {
  local collective rank
  # A rank that has a result: of reduce and gather the root.
  while read -r collective rank; do
    SET=("NCCL_BENCH_TEST_CORRUPT=$rank:3")
    bench 2 "$collective" -b 64 -e 64 -n 1
    ends_with 7
    [[ $output == *"wrong data: $collective of "*" out of place: rank $rank: 1 wrong, first at offset 3: got "*", expected "* ]] ||
      { echo "$output"; false; }
    [[ $output == *" FAILED"* ]]
  done <<<'all_reduce 1
    all_gather 1
    broadcast 1
    reduce_scatter 1
    reduce 0
    alltoall 1
    alltoallv 1
    scatter 1
    gather 0
    sendrecv 1
    hypercube 1'
}

@test "roots: one, each in turn, none that is not there" {
  bench 3 reduce -b 64 -e 64 -n 1 -r 1
  is_right
  [ "$(field 5)" = 1 ]
  bench 3 scatter -b 64 -e 64 -n 1 -r -1
  is_right
  [ "$(field 5)" = "0 1 2" ]
  bench 3 gather -b 64 -e 64 -n 1 -r 3
  ends_with 6
  [[ $output == *'-r: there is no such rank: got "3", expected a rank from 0 to 2'* ]]
}

@test "all types and all operations, in all that reduces" {
  local collective
  for collective in reduce reduce_scatter; do
    bench 2 "$collective" -b 256 -e 256 -n 1 -w 0 -d all -o all
    is_right
    [ "$(rows | awk '{print $3}' | sort -u | wc -l)" -eq 12 ]
    [ "$(rows | awk '{print $4}' | sort -u | wc -l)" -eq 6 ]
    [ "$(rows | wc -l)" -eq 72 ]
  done
}

@test "iterations, blocking, averages and shifted buffers" {
  local flags
  for flags in "-n 3 -w 2 -m 4 -z 1 -a 0" "-n 3 -z 2 -a 1 -w 0" "-n 3 -z 3 -a 2 -u 3" "-n 1 -a 3 -u 1 -d uint8"; do
    # shellcheck disable=SC2086
    bench 2 all_reduce -b 64 -e 64 $flags
    is_right || { echo "$flags"; false; }
    [ "$(rows | wc -l)" -eq 1 ]
  done
  bench 2 all_reduce -b 64 -e 64 -n 2 -z 3
  [[ $output == *"# Blocking Enabled: wait and barrier after each outer iteration (-n); time excludes barrier "* ]]
  bench 2 sendrecv -b 64 -e 192 -i 64 -n 1 -N 2 -u 3
  is_right
  [ "$(field 1)" = "64 128 192 64 128 192" ]
  bench 2 all_gather -b 64 -e 64 -n 1 -c 0
  is_right
  [ "$(field 9) $(field 13)" = "N/A N/A" ]
}

# Bytes that server1 has sent.
sent() { in_cluster --node server1 sh -c 'cat /sys/class/net/[!l]*/statistics/tx_bytes' | awk '{ sum += $1 } END { print sum }'; }

@test "the operations of -n, -m, -w, -c and -N go over the wire, no more and no fewer" {
  local flags operations before
  # Out of place and in place -n times -m and -c; -w before the table.
  while read -r operations flags; do
    before=$(sent)
    # shellcheck disable=SC2086
    bench 2 broadcast -b 4M -e 4M $flags
    is_right
    before=$((($(sent) - before) * 10 / 4194304)) # tenths of the size: headers are less than one in a hundred
    [ $((before - operations * 10)) -ge 0 ] && [ $((before - operations * 10)) -le $((1 + operations / 5)) ] ||
      { echo "$flags: $before tenths of the size sent, $operations operations asked for"; false; }
  done <<<'4 -n 2 -w 0 -c 0
    12 -n 6 -w 0 -c 0
    12 -n 2 -m 3 -w 0 -c 0
    7 -n 2 -w 3 -c 0
    8 -n 2 -w 0 -c 2
    12 -n 2 -w 0 -c 1 -N 2'
}

@test "help and version end with 0, without a step" {
  run in_cluster nccl-bench --help
  ends_with 0
  [[ $output == "usage: nccl-bench COLLECTIVE [options]"* && $output == *"Unknown options and any other wrong use"* ]]
  run in_cluster nccl-bench -h
  ends_with 0
  run in_cluster nccl-bench --version
  ends_with 0
  [[ $output == "nccl-bench "[0-9]* ]]
}

@test "columns: CPU time, time stamps, iterations" {
  bench 2 all_reduce -b 64 -e 64 -n 4 -C 1 -S 1
  is_right
  [[ $output == *" root  cputime   algbw "*" timestamp"* ]]
  [ "$(rows | awk '{print NF}')" -eq 15 ]
  bench 2 all_reduce -b 64 -e 64 -n 4 -I 1 -K 1
  is_right
  [ "$(rows | awk '{print NF}')" -eq 21 ]
  [[ $output == *"summary skips first 1 iterations"* ]]
  # i_min is at most i_max, in both blocks.
  rows | awk '{ exit !($10 <= $11 && $18 <= $19) }'
}

@test "groups measure at once, and process 0's is printed" {
  SET=("NCCL_TESTS_SPLIT=MOD 2")
  bench 4 all_reduce -b 64 -e 64 -n 2
  is_right
  [ "$(grep '^#  Rank ' <<<"$output" | awk '{print $5}' | xargs)" = "0 1 0 1" ]
  [ "$(rows | wc -l)" -eq 1 ]
  SET=(NCCL_TESTS_SPLIT_MASK=0x2 NCCL_BENCH_TEST_CORRUPT=1:0)
  bench 4 all_reduce -b 64 -e 64 -n 2
  ends_with 7
}

@test "alltoallv: spread, matrix, summary, and matrices that are none" {
  local name
  SET=(NCCL_TESTS_ALLTOALLV_SPREAD=0 NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY=1)
  bench 3 alltoallv -b 3K -e 3K -n 1
  is_right
  [ "$(grep -c 'mode=generated nranks=3 total_bytes=3072 spread=0.000 ' <<<"$output")" -eq 2 ]
  [ "$(grep -c '^#   rank=[0-2] send_bytes=3072 recv_bytes=3072 ' <<<"$output")" -eq 6 ]
  in_cluster sh -c "printf '0 64 128\n64 0 64\n32 32 0\n' >good; printf '0 64\n64 0\n' >small; printf '0 a\n64 0\n' >word"
  SET=("NCCL_TESTS_ALLTOALLV_MATRIX_FILE=$HOME_OF_ALL/good" NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY=1 NCCL_TESTS_ALLTOALLV_MATRIX_SCALE=2)
  bench 3 alltoallv -b 1K -e 1K -n 1
  is_right
  [ "$(grep -c '^#   rank=2 send_bytes=128 recv_bytes=384 ' <<<"$output")" -eq 2 ]
  [[ $output == *"mode=matrix nranks=3 matrix_dim=3 scale=2.000"* ]]
  while read -r name message; do
    SET=("NCCL_TESTS_ALLTOALLV_MATRIX_FILE=$HOME_OF_ALL/$name")
    bench 3 alltoallv -b 64 -e 64 -n 1
    ends_with 6
    [[ $output == *"$name"*"$message"* || $output == *"$message"*"$name"* ]] || { echo "$output"; false; }
  done <<<'small the matrix has fewer rows than there are ranks
    word row 1, column 2: not a number: got "a"
    none No such file or directory'
  SET=("NCCL_TESTS_ALLTOALLV_MATRIX_FILE=$HOME_OF_ALL/good")
  bench 3 alltoallv -b 64 -e 64 -n 1
  ends_with 6
  [[ $output == *'-e: is less than a rank of the matrix sends or receives: got "64", expected -b and -e of 192 or more'* ]]
}

@test "a matrix that one node has not ends all, and the node is named" {
  local node
  for node in 1 3; do in_cluster --node "server$node" sh -c "printf '0 64 64\n64 0 64\n64 64 0\n' >/tmp/matrix"; done
  SET=(NCCL_TESTS_ALLTOALLV_MATRIX_FILE=/tmp/matrix)
  bench 3 alltoallv -b 192 -e 192 -n 1
  ends_with 6
  [ "$(grep -c '^nccl-bench: process 1 (server2): NCCL_TESTS_ALLTOALLV_MATRIX_FILE: ' <<<"$output")" -eq 1 ] || { echo "$output"; false; }
  in_cluster --node server2 sh -c "printf '0 64 64\n64 0 64\n64 128 0\n' >/tmp/matrix"
  bench 3 alltoallv -b 192 -e 192 -n 1
  ends_with 6
  [[ $output == *"nccl-bench: process 1 (server2) was started with other flags, variables or another matrix than process 0."* ]]
}

@test "JSON and CSV are valid, have stdout's values and replace nothing" {
  local name
  for name in first second; do
    bench 2 all_reduce -b 64 -e 4K -f 4 -n 4 --csv v.csv "$([ $name = first ] && echo -J || echo --json)" v.json
    is_right
    echo "$output" >"$BATS_TEST_TMPDIR/$name"
  done
  [[ $output == *"# Writing JSON output to v.json.0"* ]]
  [[ $output == *"writing CSV to v.csv.0"* ]]
  for name in v.json v.csv v.json.0 v.csv.0; do in_cluster cat "$name" >"$BATS_TEST_TMPDIR/$name"; done
  cd "$BATS_TEST_TMPDIR"
  python3 -B "$BATS_TEST_DIRNAME/bench_values.py" first v.json v.csv
  python3 -B "$BATS_TEST_DIRNAME/bench_values.py" second v.json.0 v.csv.0
}

@test "three runs as cloudai, superbench and awk lines read them: the numbers of their JSON" {
  needs_pmix
  local name ranks flags
  while read -r name ranks flags; do
    for _ in 1 2 3 4; do
      # shellcheck disable=SC2016
      run in_cluster env OMPI_MCA_opal_signal= sh -c 'rm -f "$1".*; srun --wait=5 --mpi=pmix -N "$2" -n "$2" nccl-bench $3 \
        --json "$1.json" >"$1.out" 2>"$1.err"; status=$?; cat "$1.err"; exit $status' sh "$name" "$ranks" "$flags"
      [[ $output == *": Segmentation fault"* ]] || break # Open MPI's crash in MPI_Init
    done
    ends_with 0
    for file in out json; do in_cluster cat "$name.$file" >"$BATS_TEST_TMPDIR/$name.$file"; done
    run -0 python3 -B "$CLONE/tests/bench/readings.py" "$BATS_TEST_TMPDIR/$name.out" "$BATS_TEST_TMPDIR/$name.json"
    echo "# $name: $output" >&3
    [[ $output =~ ^([0-9]+)" readings, 0 wrong"$ ]]
    [ "${BASH_REMATCH[1]}" -ge 40 ]
  done <<<'read1 3 all_reduce -b 8 -e 4M -f 8 -n 5
    read2 2 all_gather -b 1K -e 1M -f 32 -n 5 -d double
    read3 3 reduce_scatter -b 64K -e 256K -i 96K -n 5 -o max -d int32'
}

@test "a disk that becomes full is said once, the table stands, exit 1" {
  in_cluster --node server1 sh -c 'mkdir full && mount -t tmpfs -o size=8k tmpfs full && touch full/one'
  bench 2 all_reduce -b 64 -e 16K -f 2 -n 2 --json full/v.json
  ends_with 1
  [ "$(rows | wc -l)" -eq 9 ]
  [[ $output == *"# Out of bounds values : 0 OK"* ]]
  [ "$(grep -c 'full/v.json: cannot be written, its former content stays: No space left' <<<"$output")" -eq 1 ]
  in_cluster --node server1 sh -c 'cat full/v.json; umount full' >"$BATS_TEST_TMPDIR/kept.json"
  python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$BATS_TEST_TMPDIR/kept.json"
}

@test "files that cannot be made end all ranks with 6 before anything is measured, said once" {
  local long flags message
  long=$(printf '%0256d' 0)
  in_cluster --node server1 sh -c 'mkdir kept packed && mount -t tmpfs -o size=4k tmpfs packed && dd if=/dev/zero of=packed/one bs=4k count=1'
  while IFS='|' read -r flags message; do
    # shellcheck disable=SC2086
    bench 3 $flags -b 64 -e 64 -n 1
    ends_with 6
    [ "$(rows | wc -l)" -eq 0 ]
    [ "$(grep -cF "$message" <<<"$output")" -eq 1 ] || { echo "$output"; false; }
    [[ $output != *"Test "*"failure"* ]]
  done <<EOF
all_reduce --json /nowhere/v.json|/nowhere/v.json: cannot be made: No such file or directory. Make its folder first, or
all_reduce --csv kept/$long|: cannot be made: File name too long. Name a shorter one: the part behind the last / has
all_reduce --json kept/|kept/: cannot be made: this is the name of a folder. Name a file in it
all_reduce --json kept/v.json --csv /sys/kernel/v.csv|/sys/kernel/v.csv: cannot be made: 
all_reduce --json packed/v.json|packed/v.json: cannot be written: No space left on device. Make room there, or name a
pairs --csv /nowhere/v.csv|/nowhere/v.csv: cannot be made: No such file or directory. Make its folder first, or
EOF
  # Neither a file that could be made, nor a part of one.
  [ -z "$(in_cluster --node server1 sh -c 'ls kept; umount packed')" ]
}

@test "-J: a file that cannot be made is left out, as by nccl-tests" {
  bench 2 all_reduce -b 64 -e 64 -n 1 -J /nowhere/v.json
  is_right
  [ "$(rows | wc -l)" -eq 1 ]
  [ "$(grep -cx '# skipping json output; /nowhere/v.json not accessible' <<<"$output")" -eq 1 ]
  [ "$(grep -c 'nccl-bench: -J: /nowhere/v.json: cannot be made: No such file or directory' <<<"$output")" -eq 1 ]
}

@test "a limit of file sizes is an error, exit 1, and no end by a signal" {
  needs_pmix
  # In blocks of 512 bytes. One rank that makes no shared memory.
  SET=(OMPI_MCA_btl=self)
  step -N1 sh -c 'ulimit -f 2; exec nccl-bench all_reduce -b 64 -e 64K -f 2 -n 1 --json limited.json'
  ends_with 6
  [ "$(rows | wc -l)" -eq 0 ]
  [ "$(grep -c 'limited.json: cannot be written: File too large' <<<"$output")" -eq 1 ]
  step -N1 sh -c 'ulimit -f 8; exec nccl-bench all_reduce -b 64 -e 64K -f 2 -n 1 --json limited.json'
  ends_with 1
  [ "$(rows | wc -l)" -eq 11 ]
  [ "$(grep -c 'limited.json: cannot be written, its former content stays: File too large' <<<"$output")" -eq 1 ]
  step -N1 sh -c 'ulimit -f 2; exec nccl-bench all_reduce -b 64 -e 64K -f 2 -n 1 >limited.out'
  ends_with 1
  [[ $output == *"cannot write to standard output: the results are lost"* ]]
}

@test "standard output that takes nothing is exit 1" {
  needs_pmix
  local to
  for to in '>&-' '>/dev/full'; do
    step -N1 sh -c "nccl-bench all_reduce -b 64 -e 64 -n 1 $to"
    ends_with 1
    [[ $output == *"cannot write to standard output: the results are lost"* ]]
  done
}

@test "--adaptive measures until the median is known, or its time is up" {
  bench 2 all_reduce -b 64 -e 64 --adaptive --adaptive-seconds 0.3 --csv adaptive.csv
  is_right
  in_cluster cat adaptive.csv >"$BATS_TEST_TMPDIR/adaptive.csv"
  python3 - "$BATS_TEST_TMPDIR/adaptive.csv" <<'PY'
import csv, sys
(row,) = csv.DictReader(open(sys.argv[1]))
assert int(row["oop_samples"]) > 4, row
assert float(row["oop_ci95_low_us"]) <= float(row["oop_time_us"]) <= float(row["oop_ci95_high_us"]), row
assert float(row["oop_p99_us"]) >= float(row["oop_p50_us"]), row
assert row["oop_settled"] in ("true", "false"), row
PY
}

@test "bandwidth that is asked for is met or missed" {
  SET=(NCCL_TESTS_MIN_BW=0.0000001)
  bench 2 all_reduce -b 4K -e 4K -n 2 --min-busbw 0.0000001
  is_right
  [[ $output =~ "# Avg bus bandwidth    : "[0-9.e-]+" OK" ]]
  SET=(NCCL_TESTS_MIN_BW=1000)
  bench 2 all_reduce -b 4K -e 4K -n 2
  ends_with 7
  [[ $output =~ "# Avg bus bandwidth    : "[0-9.e-]+" FAILED" ]]
  SET=()
  bench 2 all_reduce -b 4K -e 4K -n 2 --min-busbw 1000
  ends_with 7
  [[ $output =~ "nccl-bench: the best busbw is "[0-9.e-]+" GB/s, under --min-busbw 1000" ]]
}

@test "--backend nccl without a GPU is exit 6; flags for GPUs are left aside and said once" {
  bench 2 all_reduce --backend nccl
  ends_with 6
  [ "$(grep -c 'nccl-bench: --backend nccl: ' <<<"$output")" -eq 1 ]
  SET=(NCCL_TESTS_DEVICE=1)
  bench 2 all_reduce --backend mpi -b 64 -e 64 -n 1 -G 2 -R 2 -D 1 -y 1 -x 1 -M 1 -p 1 -V 32 --nvtx --nccl-debug debug
  is_right
  [ "$(grep -c ', measuring without it$' <<<"$output")" -eq 11 ]
  [ "$(grep -cx 'nccl-bench: NCCL_TESTS_DEVICE=1: host memory has no GPUs to choose from, measuring without it' <<<"$output")" -eq 1 ]
  [[ $output != *"GPU memory usage"* && $output == *" graph: 0 "* ]]
  run -2 in_cluster sh -c 'ls debug*'
}

# shellcheck disable=SC2030
@test "more than the memory holds is cut, and said" {
  # What server1 then has beside nccl-tests' reserve of 2 GiB: 10 MiB, for three buffers.
  in_cluster --node server1 sh -c \
    'sed "s/^MemAvailable:.*/MemAvailable: 2107392 kB/" /proc/meminfo >memory && mount --bind memory /proc/meminfo'
  bench 2 all_reduce -b 64 -e 100G -f 1000000 -n 1
  in_cluster --node server1 umount /proc/meminfo
  is_right
  [[ $output == *" maxBytes 107374182400 "* ]]
  [ "$(grep -cx '# Reducing maxBytes to 3495253 due to memory limitation' <<<"$output")" -eq 1 ]
  [ "$(field 1)" = 64 ]
}

# disturb SIGNAL NAME SRUN-FLAGS FLAGS [NODE]: sends the rank of a node (server2: rank 1) a signal after the first row, or
# all ranks as scancel does; the output is in the home, NAME.out and NAME.err.
disturb() {
  needs_pmix
  for _ in 1 2 3 4; do
    # shellcheck disable=SC2016
    run in_cluster env OMPI_MCA_opal_signal= bash -c '
      srun $3 -J "$2" -n3 -N3 --mpi=pmix nccl-bench all_reduce -b 64 -e 64 -n 5 -N 0 --json "$2.json" $4 >"$2.out" 2>"$2.err" &
      until grep -qsE "^ +64 .* 0$" "$2.out"; do
        if ! kill -0 $! || grep -qs "Segmentation fault" "$2.err"; then scancel -n "$2"; wait $!; exit 9; fi
        sleep 0.05
      done
      if [ "$5" = all ]; then scancel -n "$2"; else
        srun -Q --overlap -N1 -n1 -w "${5:-server2}" bash -c "kill -$1 \$(pgrep -o -f \"^[^ ]*nccl-bench all_reduce\")"
      fi
      wait $!
      echo "ended with $?"' sh "$@"
    # shellcheck disable=SC2031
    [ "$status" -eq 9 ] || break # Open MPI crashed in MPI_Init
    in_cluster sh -c "rm $2.*"
  done
  in_cluster cat "$2.json" >"$BATS_TEST_TMPDIR/$2.json"
}

# What was measured until then is there, and why it ended.
is_cut_off() {
  python3 - "$BATS_TEST_TMPDIR/$1.json" "$2" <<'PY'
import json, sys
result = json.load(open(sys.argv[1]))
assert result["results"], result
assert len(result["config"]["devices"]) == 3, result["config"]
assert result["nccl_bench"]["complete"] is False, result["nccl_bench"]
assert any(sys.argv[2] in error for error in result["errors"]), result["errors"]
PY
}

# What was said of the signal: once, with the node.
is_said_once() {
  in_cluster cat "$1.err" >"$BATS_TEST_TMPDIR/$1.err"
  [ "$(grep -c "ended by signal" "$BATS_TEST_TMPDIR/$1.err")" -eq 1 ] || { cat "$BATS_TEST_TMPDIR/$1.err"; false; }
  grep -qx "nccl-bench: $2: ended by signal 15 (Terminated)" "$BATS_TEST_TMPDIR/$1.err"
}

@test "a rank that gets SIGTERM alone ends the run for all, and the JSON has what was measured" {
  disturb TERM first "" "" server1
  [ "$output" = "ended with 143" ] || { echo "$output"; in_cluster cat first.err; false; }
  is_cut_off first "ended by signal 15 (Terminated)"
  is_said_once first server1
  disturb TERM other "" "" server2
  [ "$output" = "ended with 143" ] || { echo "$output"; in_cluster cat other.err; false; }
  # Process 0 was killed: what it had written stands.
  python3 -c 'import json, sys; assert not json.load(open(sys.argv[1]))["nccl_bench"]["complete"]' "$BATS_TEST_TMPDIR/other.json"
  is_said_once other server2
}

@test "scancel is said once, by process 0, and its JSON has what was measured" {
  disturb TERM cancelled "" "" all
  [[ $output == "ended with 1"* ]] # 137 or 143
  is_cut_off cancelled "ended by signal 15 (Terminated)"
  is_said_once cancelled server1
}

@test "a rank that dies ends the run, and its JSON has what was measured" {
  disturb KILL dies --kill-on-bad-exit=1 ""
  [[ $output == "ended with 1"* ]] # 137 or 143
  is_cut_off dies "ended by signal 15 (Terminated)"
}

@test "a node whose backend does not load ends all, and the node is named" {
  needs_pmix
  # shellcheck disable=SC2016
  step -N3 -n3 sh -c '
    [ "$SLURM_PROCID" = 2 ] || exec nccl-bench all_reduce -b 64 -e 64
    mkdir -p /tmp/lone && cp "$(readlink -f "$(command -v nccl-bench)")" /tmp/lone/ && exec /tmp/lone/nccl-bench all_reduce -b 64 -e 64'
  [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
  [ "$(grep -c '^nccl-bench: server3: /tmp/lone/libnccl_bench_mpi.so: not there' <<<"$output")" -eq 1 ] || { echo "$status: $output"; false; }
}

@test "-T counts all operations that are waited for at once" {
  # Some seconds of calls, each of which is short.
  bench 2 all_reduce -b 64 -e 64 -n 300000 -c 0 -T 1
  ends_with 4
  [[ $output == *": Test timeout (1s) "* ]]
  bench 2 all_reduce -b 64 -e 64 -n 30000 -z 2 -c 0 -T 1
  ends_with 0
}

@test "-T: a rank that stands still ends the run with 4, and its JSON has what was measured" {
  disturb STOP stands "" "-T 1"
  [ "$output" = "ended with 4" ]
  in_cluster grep -q ': Test timeout (1s) ' stands.out
  is_cut_off stands "Test timeout (1s)"
}
