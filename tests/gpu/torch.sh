#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# PyTorch with NCCL under nccl-launch, as steps of a real Slurm on a machine with one NVIDIA GPU: right sums and DDP with
# 1 and 2 ranks in each way to start them, and what is said when a rank fails. See README.md beside it.
#   [BIN=.gpu/bin] [DEBS=.gpu/debs] [OUT=tests/gpu/logs] [PYTHON=python3] tests/gpu/torch.sh [CASE]...
# It installs into / and starts daemons: for a throw-away machine, as root.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/gpu/slurm.bash
. tests/gpu/slurm.bash
RANKS=("${PYTHON:-python3}" tests/gpu/torch_ranks.py)
ONLY=("$@")
CASES=0
RIGHT=0

# The interface that the ranks meet on: the first one with a route.
interface() { awk 'NR > 1 {print $1; exit}' /proc/net/route; }

# What is still there of the step.
left() {
  pgrep -af 'torch_ranks\.py|^nccl-launch' || true
  squeue -h -s
}

# What is wrong with the log of a case, a line each. A pattern that begins with "!" may not be there.
faults() {
  local log=$1 status=$2 expected=$3 seconds=$4 most=$5 pattern
  shift 5
  [ "$status" = "$expected" ] || echo "exit status $status instead of $expected"
  awk -v is="$seconds" -v most="$most" 'BEGIN {exit !(is <= most)}' || echo "$seconds s, more than $most s"
  for pattern; do
    if [ "${pattern#!}" != "$pattern" ]; then
      if grep -v '^[$#] ' "$log" | grep -qE -- "${pattern#!}"; then echo "there: ${pattern#!}"; fi
    else
      grep -v '^[$#] ' "$log" | grep -qE -- "$pattern" || echo "not there: $pattern"
    fi
  done
}

# check NAME EXPECTED_STATUS MOST_SECONDS [PATTERN]... -- LINE...: runs the line and judges its log. The seconds are
# those from the line "... at TIME" that a rank prints, else from the start.
check() {
  local name=$1 expected=$2 most=$3 log=$OUT/torch-$1.log status=0 began seconds found one
  local -a patterns=()
  shift 3
  wanted "$name" || return 0
  while [ "$1" != -- ]; do patterns+=("$1"); shift; done
  shift
  { versions; echo "\$ $*"; } >"$log"
  began=$(date +%s.%N)
  timeout -k 5 120 "$@" >>"$log" 2>&1 </dev/null || status=$?
  seconds=$(date +%s.%N | awk -v began="$began" -v died="$(sed -n 's/^rank .* at \([0-9.]*\)$/\1/p' "$log")" \
    '{printf "%.1f", $1 - (died != "" ? died : began)}')
  found=$(faults "$log" "$status" "$expected" "$seconds" "$most" "${patterns[@]}"; left)
  echo "# exit status $status, $seconds s" >>"$log"
  sed -i "s|$PWD/||g" "$log"
  CASES=$((CASES + 1))
  if [ -z "$found" ]; then
    RIGHT=$((RIGHT + 1))
    echo "$name: exit status $status, $seconds s"
  else
    while read -r one; do echo "$name: NOT as expected: $one"; done <<<"$found" | tee -a "$log"
  fi
}

SUM1='^rank 0 of 1: all_reduce 1 right; 5 DDP steps as one process'
SUM2=('^rank 0 of 2: all_reduce 3 right; 5 DDP steps as one process'
      '^rank 1 of 2: all_reduce 3 right; 5 DDP steps as one process')
NCCL='NCCL [0-9.]+ on NVIDIA'
LAUNCHED='parent nccl-launch;'
QUIET='!^nccl-launch: '
# Two ranks on one GPU are a test only: they pass for ranks of different hosts.
TWO=("${RANKS[@]}" --own-host)

check_starts() {
  check one 0 60 "$SUM1" "$NCCL" "$LAUNCHED" "$QUIET" -- "${SRUN[@]}" -n1 nccl-launch -- "${RANKS[@]}" steps
  check two 0 60 "${SUM2[@]}" "$NCCL" "$LAUNCHED" '^nccl-launch: 2 ranks, MASTER_ADDR ' -- \
    "${SRUN[@]}" -n2 nccl-launch --verbose -- "${TWO[@]}" steps
  check two-no-plan 0 60 "${SUM2[@]}" "$LAUNCHED" "$QUIET" -- \
    env NCCL_SOCKET_IFNAME="$EXACT" srun --mpi=pmix -n2 nccl-launch -- "${TWO[@]}" steps
  check one-exec 0 60 "$SUM1" "$NCCL" 'parent slurmstepd' "$QUIET" -- \
    "${SRUN[@]}" -n1 nccl-launch --exec --preflight=off -- "${RANKS[@]}" steps
  check two-exec 0 60 "${SUM2[@]}" "$NCCL" 'parent slurmstepd' "$QUIET" -- \
    "${SRUN[@]}" -n2 nccl-launch --exec --preflight=off -- "${TWO[@]}" steps
  check two-numa 0 60 "${SUM2[@]}" "$NCCL" "$LAUNCHED" -- \
    "${SRUN[@]}" -n2 nccl-launch --bind numa --verbose -- "${TWO[@]}" --own-cpus steps
  check two-numa-exec 0 60 "${SUM2[@]}" "$NCCL" 'parent slurmstepd' -- \
    "${SRUN[@]}" -n2 nccl-launch --bind numa --exec --preflight=off --verbose -- "${TWO[@]}" --own-cpus steps
  check one-gpu 0 60 "$SUM1" "$NCCL" "$LAUNCHED" -- \
    "${SRUN[@]}" -n1 nccl-launch --bind gpu --own-gpu --verbose -- "${RANKS[@]}" steps
  check per-node 0 60 "${SUM2[@]}" "$NCCL" "$LAUNCHED" "$QUIET" -- \
    "${SRUN[@]}" -n1 nccl-launch --procs-per-node 2 -- "${TWO[@]}" steps
  check per-gpu 0 60 "$SUM1" "$NCCL" "$LAUNCHED" "$QUIET" -- \
    "${SRUN[@]}" -n1 nccl-launch --procs-per-node gpu -- "${RANKS[@]}" steps
}

FIRST='^nccl-launch: rank [01] \([^ ]+, pid [0-9]+\) failed first: exited with status 1, [0-9.]+ s after the start'

check_failures() {
  local reports=$WORK/reports
  check duplicate 1 60 "$FIRST" '^  NCCL said last: \[rank[01]\]: Duplicate GPU detected : rank' \
    '^  that is: two ranks of a node use the same GPU' "^  Python's error: .*NCCL" '^nccl-launch: report: .*failure-.*json' -- \
    env NCCL_TUNE_REPORT_DIR="$reports" "${SRUN[@]}" -n2 nccl-launch -- "${RANKS[@]}" steps
  check duplicate-warn 1 60 "$FIRST" '^  NCCL said last: .* NCCL WARN Duplicate GPU detected' \
    '^  that is: two ranks of a node use the same GPU' -- \
    env NCCL_DEBUG=WARN "${SRUN[@]}" -n2 nccl-launch -- "${RANKS[@]}" steps
  check no-interface 1 60 "$FIRST" '^  that is: no network interface fits' -- \
    env NCCL_SOCKET_IFNAME=nothere NCCL_DEBUG=WARN "${SRUN[@]}" -n1 nccl-launch -- "${RANKS[@]}" steps
  check no-such-gpu 1 60 '^nccl-launch: rank 1 \([^ ]+, pid [0-9]+\) failed first' \
    '^  that is: a GPU number that is not there' -- \
    "${SRUN[@]}" -n2 nccl-launch -- "${TWO[@]}" --device-of-rank steps
  check memory 1 60 "$FIRST" "^  that is: the GPU's memory is full" -- \
    "${SRUN[@]}" -n1 nccl-launch -- "${RANKS[@]}" memory
  check killed 137 5 '^nccl-launch: rank 1 \([^ ]+, pid [0-9]+\) failed first: killed by signal 9 \(SIGKILL\)' \
    '^  hint: SIGKILL' -- "${SRUN[@]}" -n2 nccl-launch -- "${TWO[@]}" kill
  check hang 124 40 '^nccl-launch: no rank printed anything for --no-output-timeout 15.0 s' '^  ranks? 0' -- \
    "${SRUN[@]}" -n2 nccl-launch --no-output-timeout 15 -- "${TWO[@]}" hang
}

check_machine nccl-launch
command -v "${RANKS[0]}" >/dev/null || die "no ${RANKS[0]}"
mkdir -p "$WORK" "$OUT"
trap stop_slurm EXIT
install_packages
start_munge
write_conf
start_slurm
SRUN=(srun --mpi=pmix)
# With our plugin the plan names the interface.
EXACT="=$(interface)"
if [ "$PLUGIN" = 1 ]; then SRUN+=(--nccl-tune); else export NCCL_SOCKET_IFNAME=$EXACT; fi
check_starts
check_failures
echo "tests/gpu/torch.sh: $RIGHT of $CASES as expected; logs in $OUT/torch-*.log"
[ "$RIGHT" = "$CASES" ]
