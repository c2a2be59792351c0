#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The collectives of the mpi backend on this machine.
#   collectives_test.sh COLLECTIVES RANKS [ARGUMENT...]
set -uo pipefail

collectives=$1
ranks=$2
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# No other machine, no devices, and cores that the ranks share.
export OMPI_MCA_plm=isolated OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_mpi_yield_when_idle=1
# Under a sanitizer: what Open MPI itself leaves at its end is not ours.
export ASAN_OPTIONS=detect_leaks=0
export HOME=${HOME:-$TEST_TMPDIR}
# Open MPI names its files by process id, which is the same in two sandboxes. The path must be short.
TMPDIR=$(mktemp -d /tmp/collectives.XXXXXX) || exit 1
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR OMPI_MCA_btl_vader_backing_directory=$TMPDIR

run() { timeout 250 mpirun --oversubscribe -n "$ranks" "$collectives" "$@" 2>&1; }

# Only these are to run out of time.
if [[ ${1:-} != --hang=* && ${1:-} != --busy=* ]]; then
  run "$@"
  exit
fi
output=$(run "$@")
status=$?
printf '%s\n' "$output"
[ "$status" = 4 ] || { echo "status $status, expected 4"; exit 1; }
grep -Eq "^[^ ]+: Test timeout \\(${1#--*=}s\\) bench/mpi_backend.cc:[0-9]+$" <<<"$output"
