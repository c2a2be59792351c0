#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with an NVIDIA GPU each real NCCL there judges which HCA ports and interfaces it takes on every captured
# machine and for every row of the tables in tests/nccl. See README.md beside it.
#   [GPU=.gpu] [OUT=tests/gpu/logs] tests/gpu/ports.sh [--machine NAME]...
set -euo pipefail
cd "$(dirname "$0")/../.."
GPU=$(realpath "${GPU:-.gpu}")
OUT=$(realpath -m "${OUT:-tests/gpu/logs}")

die() { echo "tests/gpu/ports.sh: $*" >&2; exit 1; }

# The one that is asked for, else the loader's and the one of Python's nvidia.nccl.
find_libraries() {
  if [ -n "${NCCL_BENCH_NCCL_LIB:-}" ]; then echo "$NCCL_BENCH_NCCL_LIB"; return; fi
  ldconfig -p | awk '$1 == "libnccl.so.2" {print $NF; exit}'
  python3 -c 'import nvidia.nccl; print(list(nvidia.nccl.__path__)[0] + "/lib/libnccl.so.2")' 2>/dev/null || true
}

judge() {
  local library=$1 release status=0
  shift
  release=$("$GPU/bin/bootstrap_probe" "$library" | cut -d' ' -f2)
  echo "$library is NCCL $release"
  [ -f "$GPU/answers/$release.json" ] || die "no answers for NCCL $release in $GPU: run carry_ports.sh $release"
  python3 tests/nccl/judge_ports.py "$GPU/bin/rank_probe" "$GPU/answers/$release.json" "$GPU/verbs" "$OUT" \
    --nccl "$library" --release "$release" "$@" || status=1
  {
    python3 tests/nccl/judge_interfaces.py table "$GPU/bin/bootstrap_probe" --nccl "$library" || status=1
    python3 tests/nccl/judge_interfaces.py machines "$GPU/bin/bootstrap_probe" "$GPU/answers/$release.json" \
      --nccl "$library" || status=1
  } >"$OUT/interfaces-$release.txt"
  grep 'as expected' "$OUT/interfaces-$release.txt"
  {
    date -u +%Y-%m-%dT%H:%M:%SZ
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    grep -ho 'NCCL version [0-9][^ ]*' "$OUT/ports-$release.log" | sort -u
    grep PRETTY_NAME /etc/os-release
    uname -r
  } >"$OUT/ports-$release.versions"
  return "$status"
}

[ "$(id -u)" = 0 ] || die "needs root"
for file in bin/rank_probe bin/bootstrap_probe verbs/libibverbs.so verbs/libibverbs.so.1; do
  [ -f "$GPU/$file" ] || die "no $file in $GPU: run tests/gpu/carry_ports.sh and carry .gpu here"
done
nvidia-smi -L | grep -q GPU || die "nvidia-smi shows no GPU"
# A machine without iproute2 takes the one that came along.
command -v ip >/dev/null || PATH=$PATH:$GPU/iproute2
mapfile -t libraries < <(find_libraries)
[ "${#libraries[@]}" -gt 0 ] || die "no libnccl.so.2 found: name it in NCCL_BENCH_NCCL_LIB"
mkdir -p "$OUT"
failed=0
for library in "${libraries[@]}"; do judge "$library" "$@" || failed=1; done
exit "$failed"
