// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <algorithm>

#include "bench/timing.h"

namespace nccl_tune::bench {
namespace {

using base::Result;
using base::Status;

constexpr std::uint64_t kTimingSeed = 0;

Status RunOnce(Lane& lane, const Call& call) {
  const bool graph = lane.options->graph_launches > 0;
  if (graph) NCCL_TUNE_RETURN_IF_ERROR(lane.worker->BeginCapture());
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Start(call, 0));
  if (graph) {
    NCCL_TUNE_RETURN_IF_ERROR(lane.worker->EndCapture());
    NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Replay());
  }
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Finish());
  return graph ? lane.worker->DropCapture() : base::Ok();
}

// The wrong elements over all workers; as nccl-tests, it stops at the first check that finds any.
Result<double> Check(Lane& lane, const Call& call, Measured& measured) {
  const Options& options = *lane.options;
  double wrong = 0;
  for (int check = 0; check < options.checks && wrong == 0; ++check) {
    const std::uint64_t seed = ++lane.seed;
    NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Fill(call, seed));
    NCCL_TUNE_RETURN_IF_ERROR(RunOnce(lane, call));
    if (options.corruption && options.corruption->offset < call.shape.receive_count) {
      NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Corrupt(call, options.corruption->rank, options.corruption->offset));
    }
    NCCL_TUNE_ASSIGN_OR_RETURN(mismatches, lane.worker->Check(call, seed));
    measured.faults = mismatches.first;
    NCCL_TUNE_ASSIGN_OR_RETURN(sum, lane.worker->Reduce(static_cast<double>(mismatches.count), Combine::kSum));
    wrong = sum;
  }
  return wrong;
}

// "all_reduce float sum 1048576, in place".
std::string RangeOf(const Call& call) {
  return std::string(call.collective->name) + " " + std::string(NameOf(call.type)) + " " +
         std::string(NameOf(call.op)) + " " + std::to_string(call.shape.count) + (call.in_place ? ", in place" : "");
}

// A range for a profiler that ends with the scope.
class Range {
 public:
  Range(Lane& lane, const std::string& name) : worker_(lane.options->profile ? lane.worker : nullptr) {
    if (worker_ != nullptr) worker_->BeginRange(name);
  }
  ~Range() {
    if (worker_ != nullptr) worker_->EndRange();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  Worker* worker_;
};

Result<Timing> TimeOne(Lane& lane, const Call& call) {
  const Range range(lane, "timed calls");
  return lane.options->adaptive ? TimeAdaptive(lane, call) : TimeFixed(lane, call);
}

}  // namespace

Result<Measured> MeasureBlock(Lane& lane, const Question& question, const Call& call) {
  const Options& options = *lane.options;
  const Range range(lane, lane.options->profile ? RangeOf(call) : "");
  if (options.checks > 0) NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Fill(call, kTimingSeed));
  if (lane.primes) {
    NCCL_TUNE_RETURN_IF_ERROR(StartAndWait(lane, call, 0));
    NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Finish());
  }
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Barrier());
  NCCL_TUNE_ASSIGN_OR_RETURN(timing, TimeOne(lane, call));
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Barrier());

  const Bandwidth bandwidth = call.collective->bandwidth(call.shape, question);
  Measured measured;
  Block& block = measured.block;
  block.microseconds = (options.reports_cpu_time ? timing.cpu_seconds : timing.seconds) * 1e6;
  block.algorithm_bandwidth = timing.seconds > 0 ? bandwidth.bytes / timing.seconds / 1e9 : 0;
  block.bus_bandwidth = block.algorithm_bandwidth * bandwidth.bus_factor;
  block.iterations = std::move(timing.iterations);
  block.spread = timing.spread;
  if (options.checks > 0 && (!call.in_place || call.collective->checks_in_place)) {
    const Range checking(lane, "checked calls");
    NCCL_TUNE_ASSIGN_OR_RETURN(wrong, Check(lane, call, measured));
    block.wrong = wrong;
  }
  return measured;
}

Status WarmUp(Lane& lane, const Sweep& sweep, Call call) {
  const int times = lane.options->warmup;
  // From 0 on doubling would never end; nccl-tests' does not.
  const Sweep doubling{
      .min_bytes = std::max(sweep.min_bytes, BytesOf(call.type)), .max_bytes = sweep.max_bytes, .factor = 2};
  for (const std::uint64_t size : SizesOf(doubling)) {
    call.shape = call.collective->shape({.elements = size / BytesOf(call.type),
                                         .type_bytes = BytesOf(call.type),
                                         .ranks = lane.ranks,
                                         .traffic = call.traffic});
    for (int i = 0; i < times; ++i) NCCL_TUNE_RETURN_IF_ERROR(StartAndWait(lane, call, static_cast<std::uint64_t>(i)));
    NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Finish());
  }
  return base::Ok();
}

}  // namespace nccl_tune::bench
