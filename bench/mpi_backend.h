// SPDX-License-Identifier: Apache-2.0
//
// The backend for host memory, over MPI: one rank per process. MPI finds the other processes itself. What Open MPI
// reads from the environment is set by the program's main beforehand.
//
// -T counts what nccl-tests 2.19.6 counts, one wait for the streams: all timed calls of a block, with -z each call, all
// warm-up calls of a size, each checked call. What takes longer is reported on standard output, as nccl-tests does, and
// ends all processes with status 4: nothing can return from a call of MPI that blocks.
#ifndef NCCL_TUNE_BENCH_MPI_BACKEND_H_
#define NCCL_TUNE_BENCH_MPI_BACKEND_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/mpi_worker.h"
#include "bench/watchdog.h"

namespace nccl_tune::bench {

class MpiBackend : public Backend {
 public:
  // `most`: see MpiCall; less than kMostElements only in tests.
  explicit MpiBackend(const BackendSetup& setup, std::uint64_t most = kMostElements) : setup_(setup), most_(most) {}
  ~MpiBackend() override;

  base::Result<Place> Connect() override;
  Identity identity() const override;
  std::vector<Device> LocalDevices() const override;
  base::Result<std::vector<std::string>> Gather(const std::string& text) override;
  base::Result<std::string> Broadcast(const std::string& text) override;
  base::Result<double> Sum(double value) override;
  base::Result<std::uint64_t> Memory() override;
  base::Status Join(std::uint64_t bytes) override;
  Worker& worker(std::size_t) override { return *worker_; }
  base::Result<Place> Regroup(std::optional<std::uint64_t> group) override;
  base::Result<MemoryUse> memory_use() override;
  std::string LastError() const override { return ""; }  // MPI's words are in the error itself
  base::Status Close() override;
  void Abort(int code) override;
  int FailureCode() const override { return failure_; }
  void WhenLate(std::function<void(const std::string&)> late) override { when_late_ = std::move(late); }

 private:
  bool Scales() const;
  void Late() const;
  base::Status SplitInto(std::optional<std::uint64_t> group);
  void LeaveGroup();

  BackendSetup setup_;
  std::function<void(const std::string&)> when_late_{};
  std::uint64_t most_;
  int failure_ = 1;
  std::atomic<bool> connected_ = false;  // Abort comes from any thread
  int rank_ = 0;
  int size_ = 1;
  std::uint64_t group_number_ = 0;
  MpiGroup group_{};
  std::unique_ptr<Watchdog> dog_;
  std::unique_ptr<MpiWorker> worker_;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_MPI_BACKEND_H_
