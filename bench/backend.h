// SPDX-License-Identifier: Apache-2.0
//
// What connects the ranks, holds the buffers and runs the collectives: one shared object per kind of memory, loaded at
// run time, so that nccl-bench itself links neither CUDA nor MPI and starts anywhere.
//
// A process has one Backend and, in it, one Worker per thread of -t. A worker's calls all come from its own thread, the
// backend's from the thread that made it, while no worker runs. All workers of all processes make the same calls in the
// same order. Ownership: the loader owns the backend, the backend its workers; the code is never unloaded. Errors: an
// Error's text is complete; FailureCode tells which exit status it means.
#ifndef NCCL_TUNE_BENCH_BACKEND_H_
#define NCCL_TUNE_BENCH_BACKEND_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "bench/collective.h"
#include "bench/options.h"
#include "bench/results.h"
#include "bench/types.h"

namespace nccl_tune::bench {

// What a backend may need to know before it connects.
struct BackendSetup {
  base::Environment environment{};
  Options options{};
  std::uint64_t local_rank = 0;   // of this process on its node
  std::uint64_t local_ranks = 1;  // processes on this node
  std::uint64_t host_memory = 0;  // bytes available on this node
  bool has_peers = false;         // started by something that connects processes (PMIx)
};

// This process among all, and its group of NCCL_TESTS_SPLIT. Ranks are counted within the group.
struct Place {
  std::uint64_t process = 0;
  std::uint64_t processes = 1;
  std::uint64_t group = 0;
  std::uint64_t group_process = 0;
  std::uint64_t group_processes = 1;
  std::uint64_t ranks = 1;  // of the group: its processes times threads times GPUs per thread
};

struct Identity {
  std::string label{};  // "nccl (NCCL 2.28.9, /usr/lib/libnccl.so.2)"
  // Whether the first call of a size does work that later ones do not. Then one call outside the clock precedes each
  // block, as in nccl-tests; elsewhere it would only be traffic.
  bool primes = false;
  int headers_code = 0;  // NCCL's at compile time and at run time; 0 without NCCL
  int library_code = 0;
  std::vector<DataType> types{};  // what the library and all devices can do; of an "all" the others are left out
  std::vector<ReduceOp> ops{};
  std::vector<std::pair<DataType, ReduceOp>> lacking{};  // pairs of them that it cannot do
  // Flags that this backend leaves aside, each a whole sentence for stderr.
  std::vector<std::string> left_aside{};
};

struct Call {
  const Collective* collective = nullptr;
  DataType type = DataType::kFloat;
  ReduceOp op = ReduceOp::kSum;
  std::uint64_t root = 0;  // 0 when the collective has none
  Shape shape{};
  bool in_place = false;
  const Traffic* traffic = nullptr;
};

struct Mismatches {
  std::uint64_t count = 0;           // elements, over the ranks of this worker
  std::vector<std::string> first{};  // per rank with any: "rank 1: 3 wrong, first at offset 5: got 7, expected 6"
};

enum class Combine { kSum, kMin, kMax };

class Worker {
 public:
  virtual ~Worker() = default;

  // Writes the pattern of `seed` where `call` reads, and clears what it may write elsewhere.
  virtual base::Status Fill(const Call& call, std::uint64_t seed) = 0;
  // Starts one collective; it may still run on return. Buffers are shifted with `iteration` as far as they allow, as in
  // nccl-tests, so that caches do not serve it.
  virtual base::Status Start(const Call& call, std::uint64_t iteration) = 0;
  // Waits for everything started, at most the seconds of -T: the time of one Finish, where calls block from the first
  // Start before it.
  virtual base::Status Finish() = 0;
  // Compares what iteration 0 of `call` has written with the expectation of `seed`.
  virtual base::Result<Mismatches> Check(const Call& call, std::uint64_t seed) = 0;
  // For tests: spoils element `offset` of what iteration 0 has written, when `rank` is of this worker.
  virtual base::Status Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) = 0;

  // Collectives started in between go out together (-m).
  virtual base::Status BeginGroup() = 0;
  virtual base::Status EndGroup() = 0;

  // Points in time on the device, behind what was started before: `index` < what ReserveMarks had.
  virtual base::Status ReserveMarks(std::size_t count) = 0;
  virtual base::Status Mark(std::size_t index) = 0;
  // Seconds from each first to each second mark, the longest over this worker's GPUs. After Finish.
  virtual base::Result<std::vector<double>> Between(const std::vector<std::pair<std::size_t, std::size_t>>& marks) = 0;

  // What is started in between is recorded, not run (-G); Replay starts the recording.
  virtual base::Status BeginCapture() = 0;
  virtual base::Status EndCapture() = 0;
  virtual base::Status Replay() = 0;
  virtual base::Status DropCapture() = 0;

  // A named range of time for a profiler (--nvtx); ranges nest.
  virtual void BeginRange(const std::string&) {}
  virtual void EndRange() {}

  // Over all workers of all processes.
  virtual base::Status Barrier() = 0;
  virtual base::Result<double> Reduce(double value, Combine how) = 0;
  // The values of each process (the greatest over its workers, element by element) on worker 0 of process 0; an empty
  // list elsewhere.
  virtual base::Result<std::vector<std::vector<double>>> GatherGreatest(const std::vector<double>& values) = 0;
};

// Bytes of GPU memory for -M, the most over all GPUs.
struct MemoryUse {
  std::int64_t initialization = 0;
  std::int64_t user_allocated = 0;
  std::int64_t collective = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Finds the processes and this one's devices.
  virtual base::Result<Place> Connect() = 0;
  virtual Identity identity() const = 0;
  virtual std::vector<Device> LocalDevices() const = 0;
  // The texts of all processes, in their order, on process 0; an empty list on the others.
  virtual base::Result<std::vector<std::string>> Gather(const std::string& text) = 0;
  // Process 0's text, on each process; the others' is not looked at.
  virtual base::Result<std::string> Broadcast(const std::string& text) = 0;
  // Bytes that a rank may use for its buffers, the least over all ranks.
  virtual base::Result<std::uint64_t> Memory() = 0;
  // Connects the ranks and allocates, per rank, two buffers of `bytes` (and what -u needs beyond); registers them.
  virtual base::Status Join(std::uint64_t bytes) = 0;
  // After Join: 0 <= thread < -t.
  virtual Worker& worker(std::size_t thread) = 0;
  // After Join: other groups. Processes with the same number become a group of their own, in their order; nothing: this
  // process is in no group and must start no collective until the next Regroup. All processes call it.
  virtual base::Result<Place> Regroup(std::optional<std::uint64_t> group) = 0;

  // The sum over all processes, while no worker runs.
  virtual base::Result<double> Sum(double value) = 0;
  // After the last call of any worker.
  virtual base::Result<MemoryUse> memory_use() = 0;
  virtual std::string LastError() const = 0;  // NCCL's own last words, may be empty
  virtual base::Status Close() = 0;
  // Ends all processes; may return. From any thread.
  virtual void Abort(int code) = 0;
  // nccl-tests' exit status for the last Error: 1 internal, 2 CUDA, 3 NCCL, 4 timeout, 5 not implemented, 6 wrong use.
  virtual int FailureCode() const = 0;
  // Before Connect, for a backend whose calls block: what to do, on a thread of its own, before -T ends the process in
  // the midst of one. Gets what is to be said.
  virtual void WhenLate(std::function<void(const std::string&)>) {}
};

// How long another process that is late leaves it to process 0 to write, to speak and to end them all.
inline constexpr std::chrono::seconds kTimeForTheFirst{3};

// Each backend's shared object exports exactly this, under the name in kBackendEntry. The caller owns the result.
using MakeBackend = Backend* (*)(const BackendSetup&);
inline constexpr const char* kBackendEntry = "nccl_bench_make_backend_2";

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_BACKEND_H_
