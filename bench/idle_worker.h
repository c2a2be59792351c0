// SPDX-License-Identifier: Apache-2.0
//
// The worker of a process that measures nothing for now, while others do: it takes part in what all workers of all
// processes do together, and does nothing else.
#ifndef NCCL_TUNE_BENCH_IDLE_WORKER_H_
#define NCCL_TUNE_BENCH_IDLE_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"

namespace nccl_tune::bench {

// `worker` outlives it. Used by the worker's own thread, like the worker.
class IdleWorker : public Worker {
 public:
  explicit IdleWorker(Worker& worker) : worker_(worker) {}

  base::Status Fill(const Call&, std::uint64_t) override { return base::Ok(); }
  base::Status Start(const Call&, std::uint64_t) override { return base::Ok(); }
  base::Status Finish() override { return base::Ok(); }
  base::Result<Mismatches> Check(const Call&, std::uint64_t) override { return Mismatches{}; }
  base::Status Corrupt(const Call&, std::uint64_t, std::uint64_t) override { return base::Ok(); }
  base::Status BeginGroup() override { return base::Ok(); }
  base::Status EndGroup() override { return base::Ok(); }
  base::Status ReserveMarks(std::size_t) override { return base::Ok(); }
  base::Status Mark(std::size_t) override { return base::Ok(); }
  base::Result<std::vector<double>> Between(const std::vector<std::pair<std::size_t, std::size_t>>& marks) override {
    return std::vector<double>(marks.size());
  }
  base::Status BeginCapture() override { return base::Ok(); }
  base::Status EndCapture() override { return base::Ok(); }
  base::Status Replay() override { return base::Ok(); }
  base::Status DropCapture() override { return base::Ok(); }

  base::Status Barrier() override { return worker_.Barrier(); }
  base::Result<double> Reduce(double value, Combine how) override { return worker_.Reduce(value, how); }
  base::Result<std::vector<std::vector<double>>> GatherGreatest(const std::vector<double>& values) override {
    return worker_.GatherGreatest(values);
  }

 private:
  Worker& worker_;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_IDLE_WORKER_H_
