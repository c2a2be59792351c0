// SPDX-License-Identifier: Apache-2.0
//
// The one rank of a process over MPI: its buffers in host memory and its collectives. Calls block, so Finish has
// nothing to wait for and a mark is the time of day. What -T limits is the time from the first call to the Finish
// behind it, where a GPU would be waited for.
//
// Start adds nothing to MPI's call but the shift of the buffers: what a call needs is resolved when it differs from the
// one before.
#ifndef NCCL_TUNE_BENCH_MPI_WORKER_H_
#define NCCL_TUNE_BENCH_MPI_WORKER_H_

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/host_data.h"
#include "bench/mpi_calls.h"
#include "bench/mpi_reduce.h"
#include "bench/watchdog.h"

namespace nccl_tune::bench {

// Processes that run collectives together, and this one's place among them.
struct MpiGroup {
  MPI_Comm comm = MPI_COMM_NULL;  // null: this process is in none
  int rank = 0;
  int ranks = 1;
};

// Ok for MPI_SUCCESS, else MPI's own text.
base::Status MpiStatus(int code, const std::string& call);

class MpiWorker : public Worker {
 public:
  struct Setup {
    std::uint64_t most = kMostElements;  // of one call of MPI
    std::uint64_t unaligned = 0;         // elements, -u
    bool scales = false;                 // mulsum may come: one buffer more
    Watchdog* dog = nullptr;             // outlives the worker
  };

  explicit MpiWorker(const Setup& setup) : setup_(setup) {}

  // Two buffers of `bytes` each, all of their pages there.
  base::Status Allocate(std::uint64_t bytes);
  std::uint64_t allocated() const { return allocated_; }
  void SetGroup(const MpiGroup& group);

  base::Status Fill(const Call& call, std::uint64_t seed) override;
  base::Status Start(const Call& call, std::uint64_t iteration) override;
  base::Status Finish() override;
  base::Result<Mismatches> Check(const Call& call, std::uint64_t seed) override;
  base::Status Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) override;

  base::Status BeginGroup() override { return base::Ok(); }
  base::Status EndGroup() override { return base::Ok(); }

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
  struct Free {
    void operator()(std::byte* memory) const;
  };
  using Buffer = std::unique_ptr<std::byte, Free>;
  base::Result<Buffer> MakeBuffer(std::uint64_t bytes);

  // A call with all that is the same for its iterations.
  struct Resolved {
    Call call{};
    MpiCall mpi{};
    MpiOperation operation{};
    std::uint64_t total = 0;    // bytes that one iteration uses of a buffer
    std::uint64_t steps = 1;    // how many times they fit
    std::size_t unaligned = 0;  // bytes
    std::size_t source = 0;     // in place, bytes: where the own data begins in the receive buffer
    std::size_t result = 0;     // bytes: where the result begins in the receive buffer
    std::uint64_t sends = 0;    // elements
    std::uint64_t divided = 0;  // elements of the result to be divided by the ranks: of an average
    bool scales = false;        // a mulsum
    bool swaps = false;         // an alltoallv in place
  };
  base::Status Resolve(const Call& call);
  void ResolveParts(const Call& call, MpiCall& mpi) const;
  Seat SeatOf(const Call& call) const;
  DataKey KeyOf(const Call& call, std::uint64_t seed) const;
  std::byte* Receive() const { return receive_.get() + now_.unaligned; }
  std::byte* Source() const;

  Setup setup_;
  MpiGroup group_{};
  MpiOps ops_;
  Buffer send_;
  Buffer receive_;
  Buffer scaled_;
  std::uint64_t bytes_ = 0;
  std::uint64_t allocated_ = 0;
  Resolved now_{};
  std::vector<std::chrono::steady_clock::time_point> marks_;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_MPI_WORKER_H_
