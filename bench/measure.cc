// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <algorithm>
#include <chrono>

namespace nccl_tune::bench {
namespace {

using base::Result;
using base::Status;

Status RunOnce(Backend& backend, const Call& call) {
  NCCL_TUNE_RETURN_IF_ERROR(backend.Run(call));
  return backend.Finish();
}

// Seconds per iteration in this process.
Result<double> Time(Backend& backend, const Call& call, int iterations) {
  NCCL_TUNE_RETURN_IF_ERROR(backend.Fill(call, 0));
  if (backend.identity().primes) NCCL_TUNE_RETURN_IF_ERROR(RunOnce(backend, call));
  NCCL_TUNE_RETURN_IF_ERROR(backend.Barrier());
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < iterations; ++i) NCCL_TUNE_RETURN_IF_ERROR(backend.Run(call));
  NCCL_TUNE_RETURN_IF_ERROR(backend.Finish());
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  NCCL_TUNE_RETURN_IF_ERROR(backend.Barrier());
  return elapsed.count() / iterations;
}

// The wrong elements over all ranks.
Result<double> Check(Backend& backend, const Options& options, const Call& call, Measured& measured) {
  double wrong = 0;
  for (int check = 1; check <= options.checks; ++check) {
    const auto seed = static_cast<std::uint64_t>(check);
    NCCL_TUNE_RETURN_IF_ERROR(backend.Fill(call, seed));
    NCCL_TUNE_RETURN_IF_ERROR(RunOnce(backend, call));
    if (options.corruption && options.corruption->offset < call.count) {
      NCCL_TUNE_RETURN_IF_ERROR(backend.Corrupt(call, options.corruption->rank, options.corruption->offset));
    }
    NCCL_TUNE_ASSIGN_OR_RETURN(mismatches, backend.Check(call, seed));
    measured.faults.insert(measured.faults.end(), mismatches.first.begin(), mismatches.first.end());
    NCCL_TUNE_ASSIGN_OR_RETURN(sum, backend.Sum(static_cast<double>(mismatches.count)));
    wrong += sum;
  }
  return wrong;
}

}  // namespace

Result<Measured> MeasureBlock(Backend& backend, const Place& place, const Options& options, const Call& call) {
  const Collective& collective = *options.collective;
  NCCL_TUNE_ASSIGN_OR_RETURN(own, Time(backend, call, options.iterations));
  NCCL_TUNE_ASSIGN_OR_RETURN(sum, backend.Sum(own));
  const double seconds = sum / static_cast<double>(place.processes);
  const double bytes = static_cast<double>(call.count) * static_cast<double>(BytesOf(call.type));
  Measured measured;
  measured.block.microseconds = seconds * 1e6;
  measured.block.algorithm_bandwidth = seconds > 0 ? bytes / seconds / 1e9 : 0;
  measured.block.bus_bandwidth = measured.block.algorithm_bandwidth * collective.bus_factor(place.ranks);
  if (options.checks > 0) {
    NCCL_TUNE_ASSIGN_OR_RETURN(wrong, Check(backend, options, call, measured));
    measured.block.wrong = wrong;
  }
  return measured;
}

Status WarmUp(Backend& backend, const Place& place, const Options& options, DataType type, ReduceOp op) {
  if (options.warmup == 0) return base::Ok();
  const Sweep doubling{
      .min_bytes = std::max(options.sweep.min_bytes, BytesOf(type)), .max_bytes = options.sweep.max_bytes, .factor = 2};
  for (const std::uint64_t size : SizesOf(doubling)) {
    const Extent extent = options.collective->extent(size, BytesOf(type), place.ranks);
    const Call call{.kind = options.collective->kind, .type = type, .op = op, .count = extent.count};
    NCCL_TUNE_RETURN_IF_ERROR(backend.Fill(call, 0));
    for (int i = 0; i < options.warmup; ++i) NCCL_TUNE_RETURN_IF_ERROR(backend.Run(call));
    NCCL_TUNE_RETURN_IF_ERROR(backend.Finish());
  }
  return base::Ok();
}

}  // namespace nccl_tune::bench
