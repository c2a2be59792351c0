#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The benchmarks of tests/perf still run and still print what tools/perf reads. No time is looked at.
#   smoke_test.sh READ_NODE_BENCH PAIRED_PROCESS NCCL_TUNE EMPTY_PROGRAM PREFLIGHT_SCALE_BENCH PMIX_FLOOR FRAME_SCALE MPI_LOOP
set -euo pipefail

bench=$1 paired=$2 program=$3 empty=$4 preflight=$5 floor=$6 frame=$7 loop=$8
fail() {
  echo "smoke_test: $1" >&2
  exit 1
}
expect() {  # TEXT WORD...
  local text=$1 word
  shift
  for word in "$@"; do
    [[ $text == *"$word"* ]] || fail "no $word in: $text"
  done
}

errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
text=$("$bench" --benchmark_min_time=0 --benchmark_format=json 2>"$errors") || fail "the benchmark ended: $(cat "$errors") $text"
expect "$text" 8x16/manual 8x16_full/manual 42x256/manual 42x256_full/manual '"cpu_ms"' '"bare_ms"' '"ratio"' '"files"'
[[ $text != *error_occurred* ]] || fail "a benchmark failed: $text"

text=$("$preflight" --benchmark_min_time=0 --benchmark_filter='/1024|OwnEntry' --benchmark_format=json 2>"$errors") ||
  fail "the benchmark of the preflight ended: $(cat "$errors") $text"
expect "$text" alike/1024 odd_1_percent/1024 all_different/1024 BM_OwnEntry '"bytes_per_node"' '"cpu_ms"'
[[ $text != *error_occurred* ]] || fail "a benchmark of the preflight failed: $text"

expect "$("$paired" 2 "$program" "$empty")" '"pairs": 2' '"program"' '"empty"' '"difference"' '"floor_mib"'

expect "$("$frame" 1 16 64)" '"large": 64' '"start": {"small_ms"' '"table": {"small_ms"' '"large_ms"' '"ratio"' '"peak_mib"'
for wrong in "0 16 64" "1 64 16" "1 16" "1 x 64"; do
  # shellcheck disable=SC2086  # several words on purpose
  ! "$frame" $wrong 2>/dev/null || fail "the frame was measured with: $wrong"
done

# What cannot be measured is said, not measured.
for wrong in "0 $program $empty" "x $program $empty" "2 $program"; do
  # shellcheck disable=SC2086  # several words on purpose
  ! "$paired" $wrong 2>/dev/null || fail "accepted: $wrong"
done
message=$("$paired" 1 /proc/nonexistent/program "$empty" 2>&1) && fail "measured a program that is not there"
expect "$message" "/proc/nonexistent/program: cannot be started"
message=$("$paired" 1 /bin/false "$empty" 2>&1) && fail "measured a program that failed"
expect "$message" "/bin/false: ended with status"

# The floor starts its program in a step of Slurm only (tests/e2e/payloads.bats).
status=0
message=$("$floor" true 2>&1) || status=$?
[ "$status" = 125 ] || fail "the floor without PMIx ended with $status"
expect "$message" "pmix_floor: PMIx_Init: "

# One rank alone has its own data as the sum; three nodes: tests/e2e/bench.bats.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HOME=${HOME:-$TEST_TMPDIR}
export OMPI_MCA_plm=isolated OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
mapfile -t rows < <(timeout 60 mpirun -n 1 "$loop" 8 4096 8 3 2>"$errors")
[ "${#rows[@]}" = 4 ] || fail "the loop printed ${rows[*]} $(cat "$errors")"
for size in 8 64 512 4096; do
  [[ ${rows[0]} =~ ^"$size "[0-9]+\.[0-9]+" "[0-9]+\.[0-9]+" 0"$ ]] || fail "the loop, $size bytes: ${rows[0]}"
  rows=("${rows[@]:1}")
done
for wrong in "8 64 2" "8 64 2 3 4" "x 64 2 3" "2 64 2 3" "6 64 2 3" "8 4 2 3" "8 64 1 3" "8 64 2 0" "8 64 2 -1" "8 2147483648 2 1"; do
  status=0
  # shellcheck disable=SC2086  # several words on purpose
  message=$("$loop" $wrong 2>&1) || status=$?
  [ "$status" = 2 ] || fail "the loop with $wrong ended with $status"
  expect "$message" "mpi_loop: expected FIRST LAST FACTOR ITERATIONS"
done
echo "smoke_test: passed"
