#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Our own kernels under compute-sanitizer on a machine with an NVIDIA GPU: memcheck and racecheck, one rank, up to 1 MiB,
# all types and operations, all collectives. NCCL's kernels are left out by name. See README.md beside it.
#   [BIN=.gpu/bin] [OUT=tests/gpu/logs/sanitize] [SECONDS_MOST=440] tests/gpu/sanitize.sh [TOOL|COLLECTIVE]... [--again]
# A log that is there and has no error is not made again: each call goes on where the last one ended.
set -euo pipefail
cd "$(dirname "$0")/../.."
BIN=$(realpath "${BIN:-.gpu/bin}")
OUT=$(realpath -m "${OUT:-tests/gpu/logs/sanitize}")
SECONDS_MOST=${SECONDS_MOST:-440}
TOOLS=(memcheck racecheck)
COLLECTIVES=(all_reduce all_gather broadcast reduce_scatter reduce alltoall alltoallv scatter gather sendrecv hypercube)
OURS=9nccl_tune # as it stands in the names that nvcc makes of ours
AGAIN=0

die() { echo "tests/gpu/sanitize.sh: $*" >&2; exit 1; }

among() {
  local wanted=$1 one
  shift
  for one; do [ "$one" != "$wanted" ] || return 0; done
  return 1
}

choose() {
  local word tools=() collectives=()
  for word; do
    if [ "$word" = --again ]; then AGAIN=1
    elif among "$word" "${TOOLS[@]}"; then tools+=("$word")
    elif among "$word" "${COLLECTIVES[@]}"; then collectives+=("$word")
    else die "unknown \"$word\": expected ${TOOLS[*]}, a collective or --again"; fi
  done
  if [ "${#tools[@]}" -gt 0 ]; then TOOLS=("${tools[@]}"); fi
  if [ "${#collectives[@]}" -gt 0 ]; then COLLECTIVES=("${collectives[@]}"); fi
}

# Older releases call the option --kernel-regex.
find_filter() {
  local help option
  help=$(compute-sanitizer --help 2>&1 || true)
  for option in --kernel-name --kernel-regex; do
    if grep -qE -- "$option( |\$|=)" <<<"$help"; then FILTER=("$option" "kns=$OURS"); return; fi
  done
  die "compute-sanitizer has neither --kernel-name nor --kernel-regex"
}

find_nccl() {
  ldconfig -p | grep -q 'libnccl\.so\.2' && return
  [ -z "${NCCL_BENCH_NCCL_LIB:-}" ] || return 0
  local folder
  folder=$(python3 -c 'import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])') || die "no libnccl.so.2 found"
  export NCCL_BENCH_NCCL_LIB=$folder/lib/libnccl.so.2
}

# The sum at the end of a log of a tool, and how it reads without an error.
clean() {
  case $1 in
    memcheck) grep -q 'ERROR SUMMARY: 0 errors' "$2" ;;
    racecheck) grep -q 'RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)' "$2" ;;
  esac
}

# Calls into CUDA that fail are left out: NCCL tries what this machine may lack.
sanitizer() {
  local tool=$1 more=()
  shift
  if [ "$tool" = memcheck ]; then more=(--report-api-errors no); fi
  timeout 400 compute-sanitizer --tool "$tool" "${FILTER[@]}" "${more[@]}" --print-limit 20 "$@"
}

# The filter looks at kernels of ours, and only at them: else all that follows would show nothing.
check_filter() {
  local tool folder=$OUT/planted
  grep -aq "_ZN${OURS}5bench" "$BIN/libnccl_bench_nccl.so" || die "no kernel in libnccl_bench_nccl.so is named *$OURS*"
  mkdir -p "$folder"
  nvcc -arch=sm_90 -o "$folder/planted" tests/gpu/planted.cu || die "planted.cu cannot be built"
  for tool in "${TOOLS[@]}"; do
    sanitizer "$tool" "$folder/planted" ours >"$OUT/$tool-planted-ours.log" 2>&1 || true
    sanitizer "$tool" "$folder/planted" other >"$OUT/$tool-planted-other.log" 2>&1 || true
    grep -q 'SUMMARY' "$OUT/$tool-planted-ours.log" || die "$tool did not run; $OUT/$tool-planted-ours.log"
    if clean "$tool" "$OUT/$tool-planted-ours.log"; then die "$tool with ${FILTER[*]} does not see a fault in our namespace"; fi
    clean "$tool" "$OUT/$tool-planted-other.log" || die "$tool with ${FILTER[*]} looks at kernels that are not ours"
    echo "$tool: ${FILTER[*]} sees a planted fault of ours and not that of others"
  done
  rm -rf "$folder"
}

check() {
  local tool=$1 collective=$2 log=$OUT/$1-$2.log status=0
  local -a line=("$BIN/nccl-bench" "$collective" --backend nccl -b 4 -e 1M -f 512 -n 1 -w 0 -c 1 -d all -o all -r all)
  if [ "$AGAIN" = 0 ] && [ -f "$log" ] && clean "$tool" "$log" && grep -q '^# Out of bounds values : 0 OK' "$log"; then
    echo "$tool $collective: clean before"
    return
  fi
  if [ "$SECONDS" -ge "$SECONDS_MOST" ]; then LEFT+=("$tool-$collective"); return; fi
  sanitizer "$tool" "${line[@]}" >"$log.new" 2>&1 || status=$?
  sed "s|$PWD/||g; s|\\b$(uname -n)\\b|host|g" "$log.new" >"$log"
  rm "$log.new"
  if [ "$status" = 0 ] && clean "$tool" "$log" && grep -q '^# Out of bounds values : 0 OK' "$log"; then
    echo "$tool $collective: clean, $(grep -cE '^ +[0-9]+ ' "$log") rows"
  else
    echo "$tool $collective: NOT clean (exit status $status); $log" >&2
    tail -n 15 "$log" >&2
    FAILED+=("$tool-$collective")
  fi
}

choose "$@"
[ -x "$BIN/nccl-bench" ] || die "no nccl-bench in $BIN: run tools/build and carry.sh, and carry .gpu here"
command -v compute-sanitizer >/dev/null || die "no compute-sanitizer: it comes with CUDA"
mkdir -p "$OUT"
FAILED=()
LEFT=()
find_filter
find_nccl
check_filter
for tool in "${TOOLS[@]}"; do
  for collective in "${COLLECTIVES[@]}"; do check "$tool" "$collective"; done
done
[ "${#LEFT[@]}" = 0 ] || echo "tests/gpu/sanitize.sh: time is over, start again for: ${LEFT[*]}" >&2
[ "${#FAILED[@]}" = 0 ] || echo "tests/gpu/sanitize.sh: not clean: ${FAILED[*]}" >&2
[ "$((${#LEFT[@]} + ${#FAILED[@]}))" = 0 ]
