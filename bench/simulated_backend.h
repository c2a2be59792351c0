// SPDX-License-Identifier: Apache-2.0
//
// A backend for tests and measurements of the frame itself: one process of as many as wanted, whose collectives cost
// nothing and are right unless a fault is asked for. The other processes do what this one does, with the same numbers;
// of each worker's ranks only the first is looked at.
//
// It also holds the frame to its side of backend.h: a call beyond the buffers, Check before Finish or of another call,
// marks that were not reserved, an open group or recording are errors.
#ifndef NCCL_TUNE_BENCH_SIMULATED_BACKEND_H_
#define NCCL_TUNE_BENCH_SIMULATED_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/simulated_worker.h"
#include "bench/thread_team.h"

namespace nccl_tune::bench {

struct Simulation {
  std::uint64_t process = 0;
  std::uint64_t processes = 1;
  std::uint64_t processes_per_node = 8;
  std::uint64_t memory = 64ULL << 30U;
  Identity identity{.label = "simulated"};  // no types, no operations: all
  MemoryUse memory_use{};
  std::string last_error{};
  // The text that the frame would give to Gather for these devices of another process; without it, this one's own text.
  std::function<std::string(const std::vector<Device>&)> describe{};
  SimulatedRank rank{};  // what each worker does
};

class SimulatedBackend : public Backend {
 public:
  SimulatedBackend(const BackendSetup& setup, Simulation simulation);

  base::Result<Place> Connect() override;
  Identity identity() const override;
  std::vector<Device> LocalDevices() const override;
  base::Result<std::vector<std::string>> Gather(const std::string& text) override;
  base::Result<std::string> Broadcast(const std::string& text) override { return text; }
  base::Result<double> Sum(double value) override { return value * static_cast<double>(simulation_.processes); }
  base::Result<std::uint64_t> Memory() override { return simulation_.memory; }
  base::Status Join(std::uint64_t bytes) override;
  Worker& worker(std::size_t thread) override { return *workers_[thread]; }
  // All processes are taken to ask for the same.
  base::Result<Place> Regroup(std::optional<std::uint64_t> group) override;
  base::Result<MemoryUse> memory_use() override { return simulation_.memory_use; }
  std::string LastError() const override { return simulation_.last_error; }
  base::Status Close() override;
  void Abort(int code) override;
  int FailureCode() const override;

  // What has been done so far, by the worker of `thread`.
  const SimulatedCounts& counts(std::size_t thread = 0) const { return workers_[thread]->counts(); }
  std::uint64_t joined_bytes() const { return joined_bytes_; }
  bool closed() const { return closed_; }
  std::optional<int> aborted() const { return aborted_; }

  std::vector<Device> DevicesOf(std::uint64_t process) const;

 private:
  std::uint64_t RanksPerProcess() const;
  std::uint64_t GroupNumber(std::uint64_t process) const;
  Place Settle(const Place& place);

  BackendSetup setup_;
  Simulation simulation_;
  ThreadTeam team_;
  std::vector<std::unique_ptr<SimulatedWorker>> workers_;
  std::uint64_t joined_bytes_ = 0;
  bool closed_ = false;
  std::optional<int> aborted_{};
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SIMULATED_BACKEND_H_
