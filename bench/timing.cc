// SPDX-License-Identifier: Apache-2.0
#include "bench/timing.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "bench/adaptive.h"
#include "bench/iteration_stats.h"

namespace nccl_tune::bench {
namespace {

using base::Result;
using base::Status;

class Clock {
 public:
  double Seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  void Restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The marks of iteration i: with -z 3 each has a pair of its own, which leaves the barrier out; else neighbours share
// one.
std::pair<std::size_t, std::size_t> MarksOf(const Options& options, int iteration) {
  const auto i = static_cast<std::size_t>(iteration);
  return options.blocking == Blocking::kOuter ? std::pair{2 * i, 2 * i + 1} : std::pair{i, i + 1};
}

std::size_t MarkCount(const Options& options) {
  const auto iterations = static_cast<std::size_t>(options.iterations);
  return options.blocking == Blocking::kOuter ? 2 * iterations : iterations + 1;
}

// What -z wants behind each call. nccl-tests waits here with -z 3 too.
Status WaitAsAsked(Lane& lane) {
  if (lane.options->blocking == Blocking::kNo) return base::Ok();
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Finish());
  return lane.options->blocking == Blocking::kWaitAndBarrier ? lane.worker->Barrier() : base::Ok();
}

// The calls of -m. nccl-tests waits within the group, where nothing runs yet; here that comes behind it. While a graph
// is recorded there is nothing to wait for.
Status StartInner(Lane& lane, const Call& call, int iteration) {
  const auto inner = static_cast<std::uint64_t>(lane.options->aggregated);
  const bool waits_each = inner == 1 && lane.options->graph_launches == 0;
  for (std::uint64_t i = 0; i < inner; ++i) {
    const std::uint64_t number = static_cast<std::uint64_t>(iteration) * inner + i;
    NCCL_TUNE_RETURN_IF_ERROR(waits_each ? StartAndWait(lane, call, number) : lane.worker->Start(call, number));
  }
  return base::Ok();
}

// One timed iteration: -m calls that go out together. Adds what it took without the barrier of -z 3 to `net`.
Status Iterate(Lane& lane, const Call& call, int iteration, double& net) {
  const Options& options = *lane.options;
  std::optional<Clock> clock;
  if (options.blocking == Blocking::kOuter) clock.emplace();
  const auto marks = MarksOf(options, iteration);
  if (options.aggregated > 1) NCCL_TUNE_RETURN_IF_ERROR(lane.worker->BeginGroup());
  if (options.times_iterations) NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Mark(marks.first));
  NCCL_TUNE_RETURN_IF_ERROR(StartInner(lane, call, iteration));
  if (options.aggregated > 1) {
    NCCL_TUNE_RETURN_IF_ERROR(lane.worker->EndGroup());
    if (options.graph_launches == 0) NCCL_TUNE_RETURN_IF_ERROR(WaitAsAsked(lane));
  }
  if (!clock) return base::Ok();
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Finish());
  if (options.times_iterations) NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Mark(marks.second));
  net += clock->Seconds();
  return lane.worker->Barrier();
}

// Whether nothing but its one call belongs to an iteration.
bool IsBare(const Options& options) {
  return options.aggregated == 1 && options.blocking == Blocking::kNo && !options.times_iterations;
}

// All timed iterations. On host memory a call of a few bytes takes no longer than finding out what an iteration needs.
Status IterateAll(Lane& lane, const Call& call, double& net) {
  const int count = lane.options->iterations;
  const bool bare = IsBare(*lane.options);
  for (int i = 0; i < count; ++i) {
    NCCL_TUNE_RETURN_IF_ERROR(bare ? lane.worker->Start(call, static_cast<std::uint64_t>(i))
                                   : Iterate(lane, call, i, net));
  }
  return base::Ok();
}

// Seconds of each iteration, the longest of all workers, on the leader.
Result<std::optional<IterationTimes>> ReadIterations(Lane& lane) {
  const Options& options = *lane.options;
  std::vector<std::pair<std::size_t, std::size_t>> marks;
  for (int i = 0; i < options.iterations; ++i) marks.push_back(MarksOf(options, i));
  NCCL_TUNE_ASSIGN_OR_RETURN(own, lane.worker->Between(marks));
  for (double& seconds : own) seconds /= options.aggregated;
  NCCL_TUNE_ASSIGN_OR_RETURN(all, lane.worker->GatherGreatest(own));
  if (!lane.leads) return std::optional<IterationTimes>();
  std::vector<double> longest = LongestPerIteration(all);
  if (all.size() == 1) all.clear();
  return std::optional(
      SummariseIterations(std::move(longest), std::move(all), static_cast<std::size_t>(options.skipped_iterations)));
}

Result<double> Combined(Lane& lane, double seconds) {
  switch (lane.options->average) {
    case Average::kFirst:
      return seconds;  // what is reported is the leader's
    case Average::kLeast:
      return lane.worker->Reduce(seconds, Combine::kMin);
    case Average::kGreatest:
      return lane.worker->Reduce(seconds, Combine::kMax);
    case Average::kMean:
      break;
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(sum, lane.worker->Reduce(seconds, Combine::kSum));
  return sum / static_cast<double>(lane.workers);
}

// The samples of one batch: each call's time, the longest of all workers, on the leader.
Result<std::vector<double>> TimeBatch(Lane& lane, const Call& call, std::size_t calls, std::uint64_t& number) {
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->ReserveMarks(calls + 1));
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Barrier());
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Mark(0));
  std::vector<std::pair<std::size_t, std::size_t>> marks;
  for (std::size_t i = 0; i < calls; ++i) {
    NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Start(call, number++));
    NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Mark(i + 1));
    marks.emplace_back(i, i + 1);
  }
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Finish());
  NCCL_TUNE_ASSIGN_OR_RETURN(own, lane.worker->Between(marks));
  NCCL_TUNE_ASSIGN_OR_RETURN(all, lane.worker->GatherGreatest(own));
  return LongestPerIteration(all);
}

}  // namespace

Status StartAndWait(Lane& lane, const Call& call, std::uint64_t iteration) {
  NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Start(call, iteration));
  return WaitAsAsked(lane);
}

Result<Timing> TimeFixed(Lane& lane, const Call& call) {
  const Options& options = *lane.options;
  Worker& worker = *lane.worker;
  const bool graph = options.graph_launches > 0;
  if (graph) NCCL_TUNE_RETURN_IF_ERROR(worker.BeginCapture());
  if (options.times_iterations) NCCL_TUNE_RETURN_IF_ERROR(worker.ReserveMarks(MarkCount(options)));

  const double calls = static_cast<double>(options.iterations) * options.aggregated;
  const bool outer = options.blocking == Blocking::kOuter;
  double net = 0;
  Clock clock;
  NCCL_TUNE_RETURN_IF_ERROR(IterateAll(lane, call, net));
  if (options.times_iterations && !outer) {
    NCCL_TUNE_RETURN_IF_ERROR(worker.Mark(static_cast<std::size_t>(options.iterations)));
  }
  if (graph) {
    NCCL_TUNE_RETURN_IF_ERROR(worker.EndCapture());
    NCCL_TUNE_RETURN_IF_ERROR(worker.Barrier());
    clock.Restart();
    for (int i = 0; i < options.graph_launches; ++i) NCCL_TUNE_RETURN_IF_ERROR(worker.Replay());
  }
  Timing timing;
  timing.cpu_seconds = (outer ? net : clock.Seconds()) / calls;
  // With -z each call was waited for where it started, but in a group or a graph.
  if (options.blocking == Blocking::kNo || options.aggregated > 1 || graph) NCCL_TUNE_RETURN_IF_ERROR(worker.Finish());
  const double own = (outer ? net : clock.Seconds()) / calls / (graph ? options.graph_launches : 1);
  if (options.times_iterations) {
    NCCL_TUNE_RETURN_IF_ERROR(worker.Finish());
    NCCL_TUNE_ASSIGN_OR_RETURN(iterations, ReadIterations(lane));
    timing.iterations = std::move(iterations);
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(seconds, Combined(lane, own));
  timing.seconds = seconds;
  if (graph) NCCL_TUNE_RETURN_IF_ERROR(worker.DropCapture());
  return timing;
}

Result<Timing> TimeAdaptive(Lane& lane, const Call& call) {
  Adaptive adaptive({.seconds = lane.options->adaptive_seconds});
  std::uint64_t number = 0;
  double sharing = 0;  // seconds to ask the leader
  const Clock clock;
  while (true) {
    // The leader alone knows all times: it decides for all.
    const double asked = lane.leads ? static_cast<double>(adaptive.NextBatch(clock.Seconds(), sharing)) : 0;
    const Clock shared;
    NCCL_TUNE_ASSIGN_OR_RETURN(calls, lane.worker->Reduce(asked, Combine::kMax));
    sharing = shared.Seconds();
    if (calls == 0) break;
    NCCL_TUNE_ASSIGN_OR_RETURN(samples, TimeBatch(lane, call, static_cast<std::size_t>(calls), number));
    for (const double seconds : samples) adaptive.Add(seconds);
  }
  Timing timing;
  if (lane.leads) timing.spread = adaptive.Summary();
  NCCL_TUNE_ASSIGN_OR_RETURN(median, lane.worker->Reduce(timing.spread ? timing.spread->median : 0, Combine::kMax));
  timing.seconds = timing.cpu_seconds = median;
  return timing;
}

}  // namespace nccl_tune::bench
