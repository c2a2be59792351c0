// SPDX-License-Identifier: Apache-2.0
//
// One worker of simulated_backend.h.
#ifndef NCCL_TUNE_BENCH_SIMULATED_WORKER_H_
#define NCCL_TUNE_BENCH_SIMULATED_WORKER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/host_data.h"
#include "bench/thread_team.h"

namespace nccl_tune::bench {

struct SimulatedFault {
  enum class Kind {
    kError,    // Start number `at` fails
    kTimeout,  // the Finish behind Start number `at` does, with status 4
    kWrong,    // Check number `at` finds element `offset` wrong
    kNan,      // or finds it to be no number
  };
  Kind kind = Kind::kError;
  std::uint64_t at = 1;  // counted from 1 over the whole run
  std::uint64_t offset = 0;
};

struct SimulatedRank {
  std::optional<SimulatedFault> fault{};
  // Seconds on the device of one call, as the marks tell them, by its number from 1; nothing: as the clock goes.
  std::function<double(const Call&, std::uint64_t number)> seconds{};
  bool keeps_calls = false;  // fill `calls` of the counts
};

struct SimulatedCounts {
  struct Started {
    Call call{};
    std::uint64_t iteration = 0;
  };
  std::uint64_t fills = 0;
  std::uint64_t starts = 0;  // without those recorded, with those replayed
  std::uint64_t finishes = 0;
  std::uint64_t checks = 0;
  std::uint64_t corruptions = 0;
  std::uint64_t groups = 0;
  std::uint64_t recordings = 0;
  std::uint64_t replays = 0;
  std::uint64_t barriers = 0;
  std::uint64_t reductions = 0;
  std::vector<Started> calls{};
};

struct SimulatedPlace {
  std::uint64_t rank = 0;   // the one that is looked at
  std::uint64_t ranks = 1;  // of its group
  std::size_t thread = 0;
  std::uint64_t process = 0;
  std::uint64_t processes = 1;
  bool in_group = true;  // else a collective is an error
};

class SimulatedWorker : public Worker {
 public:
  SimulatedWorker(SimulatedRank behaviour, ThreadTeam& team) : behaviour_(std::move(behaviour)), team_(team) {}

  void SetPlace(const SimulatedPlace& place);
  void SetBytes(std::uint64_t bytes) { bytes_ = bytes; }
  const SimulatedCounts& counts() const { return counts_; }
  int failure() const { return failure_; }

  base::Status Fill(const Call& call, std::uint64_t seed) override;
  base::Status Start(const Call& call, std::uint64_t iteration) override;
  base::Status Finish() override;
  base::Result<Mismatches> Check(const Call& call, std::uint64_t seed) override;
  base::Status Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) override;
  base::Status BeginGroup() override;
  base::Status EndGroup() override;
  base::Status ReserveMarks(std::size_t count) override;
  base::Status Mark(std::size_t index) override;
  base::Result<std::vector<double>> Between(const std::vector<std::pair<std::size_t, std::size_t>>& marks) override;
  base::Status BeginCapture() override;
  base::Status EndCapture() override;
  base::Status Replay() override;
  base::Status DropCapture() override;
  base::Status Barrier() override;
  base::Result<double> Reduce(double value, Combine how) override;
  base::Result<std::vector<std::vector<double>>> GatherGreatest(const std::vector<double>& values) override;

 private:
  bool IsFault(SimulatedFault::Kind kind, std::uint64_t number) const;
  Seat SeatOf(const Call& call) const;
  DataKey KeyOf(const Call& call, std::uint64_t seed) const;
  base::Status Fits(const Call& call) const;
  base::Status Run(const Call& call, std::uint64_t iteration);
  base::Status MakeResult(const Call& call);
  double Now() const;
  base::Result<std::vector<double>> Meet(const std::vector<double>& values, Combine how);

  SimulatedRank behaviour_;
  ThreadTeam& team_;
  SimulatedPlace place_{};
  std::uint64_t bytes_ = 0;
  SimulatedCounts counts_{};
  int failure_ = 1;

  std::optional<Call> filled_{};
  std::uint64_t seed_ = 0;
  bool ran_ = false;      // the filled call at iteration 0, since Fill
  bool running_ = false;  // since the last Finish
  bool late_ = false;
  bool made_ = false;  // result_ is that of the filled call
  std::vector<std::byte> result_{};
  bool grouping_ = false;
  bool recording_ = false;
  std::vector<SimulatedCounts::Started> recorded_{};
  double device_seconds_ = 0;  // of all calls, with a function for them
  std::vector<std::optional<double>> marks_{};
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SIMULATED_WORKER_H_
