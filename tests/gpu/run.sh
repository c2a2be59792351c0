#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The real stack on a machine with one NVIDIA GPU: a one-node Slurm from Debian 12's packages, then nccl-launch and
# nccl-bench with the NCCL backend by srun, with 1, 2 and 4 ranks on that GPU. See README.md beside it.
#   [BIN=.gpu/bin] [DEBS=.gpu/debs] [OUT=tests/gpu/logs] tests/gpu/run.sh
# It installs into / and starts daemons: for a throw-away machine, as root.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/gpu/slurm.bash
. tests/gpu/slurm.bash

# The libnccl that comes with Python, when the loader knows none.
find_nccl() {
  ldconfig -p | grep -q 'libnccl\.so\.2' && return
  [ -z "${NCCL_BENCH_NCCL_LIB:-}" ] || return 0
  local folder
  folder=$(python3 -c 'import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])') || die "no libnccl.so.2 found"
  export NCCL_BENCH_NCCL_LIB=$folder/lib/libnccl.so.2
}

# For tests only: ranks that share a GPU pass for ranks of different hosts, which NCCL refuses otherwise.
write_wrapper() {
  cat >"$WORK/one-host-each" <<'END'
#!/bin/sh
NCCL_HOSTID=rank$SLURM_PROCID exec "$@"
END
  chmod 755 "$WORK/one-host-each"
}

# One srun line with N ranks; adds to the log, fails unless all data was right.
measure() {
  local ranks=$1 log=$OUT/ranks$1.log
  local -a tune=()
  if [ "$PLUGIN" = 1 ]; then tune=(--nccl-tune); else export NCCL_SOCKET_IFNAME=lo; fi
  local -a line=(srun "-n$ranks" --mpi=pmix "${tune[@]}" "$WORK/one-host-each" nccl-launch --verbose --
                 nccl-bench all_reduce -b 8 -e 64M -f 2)
  { versions; echo "\$ ${line[*]}"; } >"$log"
  if ! timeout 240 "${line[@]}" >>"$log" 2>&1; then
    tail -n 30 "$log" >&2
    die "$ranks ranks: the line failed; $log"
  fi
  grep -q '^# Out of bounds values : 0 OK' "$log" || die "$ranks ranks: no '0 OK' in $log"
  grep -q '^# nccl-bench .* backend nccl ' "$log" || die "$ranks ranks: another backend than nccl in $log"
  [ "$(grep -c '^#  Rank ' "$log")" = "$ranks" ] || die "$ranks ranks: other number of device lines in $log"
  echo "$ranks ranks: $(grep '^# Avg' "$log")"
}

# The check must be able to fail on the GPU too.
measure_spoilt() {
  local status=0
  NCCL_BENCH_TEST_CORRUPT=0:5 timeout 120 srun -n1 --mpi=pmix nccl-bench all_reduce -b 64 -e 64 \
    >"$OUT/spoilt.log" 2>&1 || status=$?
  [ "$status" = 7 ] || die "spoilt data: exit status $status instead of 7; $OUT/spoilt.log"
  grep -q 'rank 0: 1 wrong, first at offset 5' "$OUT/spoilt.log" || die "spoilt data: not named; $OUT/spoilt.log"
  echo "spoilt data: found, exit 7"
}

# All types and operations.
measure_types() {
  timeout 240 srun -n1 --mpi=pmix nccl-bench all_reduce -b 64K -e 64K -n 2 -d all -o all >"$OUT/types.log" 2>&1 ||
    { tail -n 20 "$OUT/types.log" >&2; die "types: the line failed; $OUT/types.log"; }
  grep -q '^# Out of bounds values : 0 OK' "$OUT/types.log" || die "types: no '0 OK' in $OUT/types.log"
  echo "types: $(grep -cE '^ +65536 ' "$OUT/types.log") rows right"
}

check_machine nccl-bench libnccl_bench_nccl.so nccl-launch
mkdir -p "$WORK" "$OUT"
trap stop_slurm EXIT
install_packages
find_nccl
start_munge
write_conf
write_wrapper
start_slurm
for ranks in 1 2 4; do measure "$ranks"; done
measure_types
measure_spoilt
echo "tests/gpu/run.sh: all right; logs in $OUT"
