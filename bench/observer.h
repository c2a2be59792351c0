// SPDX-License-Identifier: Apache-2.0
//
// Looks at the machine before and after a run: what the number is worth, and what else may have made it. A fault of
// its own costs a sentence, never the run.
//
// Threads: the program's main thread, while it has only that one (Start) or no worker runs.
#ifndef NCCL_TUNE_BENCH_OBSERVER_H_
#define NCCL_TUNE_BENCH_OBSERVER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "bench/backend.h"
#include "bench/doubts.h"
#include "bench/gpu_watch.h"
#include "bench/results.h"
#include "bench/wire_facts.h"

namespace nccl_tune::bench {

struct ObserverFacts {
  base::Environment environment{};
  BackendKind backend = BackendKind::kMpi;
  std::uint64_t local_rank = 0;    // of this process on its node
  std::uint64_t local_ranks = 1;   // processes on this node
  std::uint64_t usable_cores = 1;  // of this process
  std::uint64_t online_cores = 1;
  std::uint64_t threads = 1;  // -t
};

class Observer {
 public:
  explicit Observer(ObserverFacts facts) : facts_(std::move(facts)) {}

  // Before the backend is loaded. Only a node's first process looks.
  void Start();

  struct Seen {
    std::vector<std::string> verdicts{};
    std::vector<std::string> doubts{};
  };
  // After the last measurement, in all processes; `record` counts on process 0, where the answer is.
  base::Result<Seen> Finish(Backend& backend, const Place& place, const Record& record);
  // The same for a search, which has no rows: what makes its numbers doubtful, on process 0.
  base::Result<std::vector<std::string>> FinishSearch(Backend& backend);

 private:
  bool Looks() const { return facts_.local_rank == 0; }
  Snapshot Look(const std::vector<Device>& here);
  std::vector<std::string> Doubts(const std::vector<Device>& here, const Record* record);
  // `all_devices`: DevicesToText of the run's, on process 0.
  base::Result<std::vector<std::string>> GatherDoubts(Backend& backend, const std::string& all_devices,
                                                      const Record* record);

  ObserverFacts facts_;
  std::unique_ptr<GpuWatch> watch_{};
  Wire wire_{};
  Snapshot before_{};
  std::chrono::steady_clock::time_point started_{};
};

// Those of `devices` that are of `host`.
std::vector<Device> DevicesOn(const std::vector<Device>& devices, const std::string& host);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_OBSERVER_H_
