#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copies what tools/build has built to .gpu/bin, for a GPU machine without Bazel.
#   tests/gpu/carry.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p .gpu/bin
for file in bench/nccl-bench bench/libnccl_bench_nccl.so bench/libnccl_bench_mpi.so launcher/nccl-launch; do
  [ -f "bazel-bin/$file" ] || { echo "tests/gpu/carry.sh: bazel-bin/$file is not built: run tools/build" >&2; exit 1; }
  cp -fL "bazel-bin/$file" .gpu/bin/
done
for file in spank/spank_nccl_tune.so cli/nccl-tune; do
  if [ -f "bazel-bin/$file" ]; then cp -fL "bazel-bin/$file" .gpu/bin/; fi
done
chmod u+w .gpu/bin/*
ls -l .gpu/bin
