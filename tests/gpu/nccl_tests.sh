#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds nccl-tests from .gpu/nccl-tests for the GPU of this machine type (sm_90), without MPI to build and, where Open
# MPI's headers are, with it to build_mpi. What is built already stays. See README.md beside it.
#   tests/gpu/nccl_tests.sh [build|build_mpi]...     default: both
#   tests/gpu/nccl_tests.sh headers                  on a machine with libopenmpi-dev: its headers to .gpu/mpi
#   [GPU=.gpu] [NCCL_HOME=DIR] [MPI_HOME=DIR] [JOBS=16]
set -euo pipefail
cd "$(dirname "$0")/../.."
GPU=$(realpath -m "${GPU:-.gpu}")
SOURCE=$GPU/nccl-tests
RELEASE=2.19.6
PROGRAMS=(all_reduce all_gather broadcast reduce_scatter reduce alltoall alltoallv scatter gather sendrecv hypercube)

die() { echo "tests/gpu/nccl_tests.sh: $*" >&2; exit 1; }

copy_headers() {
  local folder
  command -v mpicc >/dev/null || die "no mpicc here: install libopenmpi-dev"
  for folder in $(mpicc --showme:incdirs); do
    [ -f "$folder/mpi.h" ] || continue
    mkdir -p "$GPU/mpi"
    rm -rf "$GPU/mpi/include"
    cp -rL "$folder" "$GPU/mpi/include"
    echo "tests/gpu/nccl_tests.sh: $folder to $GPU/mpi/include"
    return
  done
  die "mpicc names no folder with mpi.h"
}

check_source() {
  [ -f "$SOURCE/src/common.h" ] || die "no source in $SOURCE: README.md says how to put it there"
  grep -q "NCCL_TESTS_VERSION \"$RELEASE\"" "$SOURCE/src/common.h" || die "the source in $SOURCE is not release $RELEASE"
}

# A folder with include/nccl.h and lib/libnccl.so, which the Python package has only as libnccl.so.2.
find_nccl() {
  if [ -n "${NCCL_HOME:-}" ]; then echo "$NCCL_HOME"; return; fi
  local package home=$GPU/nccl-home
  if [ -f /usr/include/nccl.h ] && [ -e /usr/lib/x86_64-linux-gnu/libnccl.so ]; then echo /usr; return; fi
  package=$(python3 -c 'import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])') ||
    die "no NCCL: neither /usr/include/nccl.h nor Python's nvidia.nccl; name one in NCCL_HOME"
  [ -f "$package/include/nccl.h" ] || die "$package has no include/nccl.h"
  mkdir -p "$home/lib"
  ln -sfn "$package/include" "$home/include"
  ln -sf "$package/lib/libnccl.so.2" "$home/lib/libnccl.so"
  echo "$home"
}

# A folder with include/mpi.h and lib/libmpi.so; empty when there is none.
find_mpi() {
  if [ -n "${MPI_HOME:-}" ]; then echo "$MPI_HOME"; return; fi
  local library folder home=$GPU/mpi
  if command -v mpicc >/dev/null; then
    for folder in $(mpicc --showme:incdirs 2>/dev/null); do
      [ -f "$folder/mpi.h" ] || continue
      mkdir -p "$home"
      [ -d "$home/include" ] || ln -sfn "$folder" "$home/include"
    done
  fi
  if [ ! -f "$home/include/mpi.h" ]; then
    echo "tests/gpu/nccl_tests.sh: no mpi.h: run \"tests/gpu/nccl_tests.sh headers\" where libopenmpi-dev is, and carry .gpu" >&2
    return
  fi
  library=$(ldconfig -p | awk '$1 ~ /^libmpi\.so/ {print $NF; exit}')
  if [ -z "$library" ]; then echo "tests/gpu/nccl_tests.sh: the loader knows no libmpi.so" >&2; return; fi
  mkdir -p "$home/lib"
  ln -sf "$library" "$home/lib/libmpi.so"
  echo "$home"
}

# In the order of docs/building-cuda.md.
cuda_home() {
  local compiler
  for compiler in "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" /usr/local/cuda/bin/nvcc "$(command -v nvcc || true)"; do
    [ -x "$compiler" ] || continue
    dirname "$(dirname "$(realpath "$compiler")")"
    return
  done
  die "no nvcc: name CUDA's folder in CUDA_HOME"
}

make_programs() {
  local folder=$1 program missing=()
  shift
  for program in "${PROGRAMS[@]}"; do [ -x "$SOURCE/$folder/${program}_perf" ] || missing+=("$program"); done
  if [ "${#missing[@]}" -gt 0 ]; then
    make -C "$SOURCE" -j"${JOBS:-16}" BUILDDIR="$SOURCE/$folder" CUDA_HOME="$CUDA" NCCL_HOME="$NCCL" \
      NVCC_GENCODE=-gencode=arch=compute_90,code=sm_90 "$@" src.build >"$SOURCE/$folder.log" 2>&1 ||
      { tail -n 30 "$SOURCE/$folder.log" >&2; die "$folder: make failed; $SOURCE/$folder.log"; }
  fi
  for program in "${PROGRAMS[@]}"; do
    [ -x "$SOURCE/$folder/${program}_perf" ] || die "$folder: no ${program}_perf after make; $SOURCE/$folder.log"
  done
  echo "$folder: ${#PROGRAMS[@]} programs, NCCL of $NCCL, CUDA of $CUDA"
}

if [ "${1:-}" = headers ]; then copy_headers; exit; fi
[ $# -gt 0 ] || set -- build build_mpi
check_source
CUDA=$(cuda_home)
NCCL=$(find_nccl)
for what; do
  case $what in
    build) make_programs build ;;
    build_mpi)
      MPI=$(find_mpi)
      [ -n "$MPI" ] || die "build_mpi cannot be built; two ranks need it"
      make_programs build_mpi MPI=1 MPI_HOME="$MPI"
      ;;
    *) die "unknown \"$what\": expected build, build_mpi or headers" ;;
  esac
done
