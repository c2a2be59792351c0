// SPDX-License-Identifier: Apache-2.0
//
// What connects the ranks, holds the buffers and runs the collectives: one shared object per kind of memory, loaded at
// run time, so that nccl-bench itself links neither CUDA nor MPI and starts anywhere.
//
// Threads: all calls come from one thread. Ownership: the loader owns the backend and never unloads its code.
// Errors: an Error's text is complete; FailureCode tells which exit status it means. Every process of a run makes the
// same calls in the same order.
#ifndef NCCL_TUNE_BENCH_BACKEND_H_
#define NCCL_TUNE_BENCH_BACKEND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "bench/collective.h"
#include "bench/table.h"
#include "bench/types.h"

namespace nccl_tune::bench {

// What a backend may need to know before it connects.
struct BackendSetup {
  base::Environment environment{};
  int gpus = 1;                   // per process
  std::uint64_t local_rank = 0;   // of this process on its node
  std::uint64_t local_ranks = 1;  // processes on this node
  std::uint64_t host_memory = 0;  // bytes available on this node
  bool has_peers = false;         // started by something that connects processes (PMIx)
};

struct Place {
  std::uint64_t process = 0;
  std::uint64_t processes = 1;
  std::uint64_t ranks = 1;  // processes times GPUs per process
};

struct Identity {
  std::string label{};  // "nccl (NCCL 2.28.9, /usr/lib/libnccl.so.2)"
  // Whether the first call of a size does work that later ones do not. Then one call outside the clock precedes each
  // block, as in nccl-tests; elsewhere it would only be traffic.
  bool primes = false;
  int headers_code = 0;  // NCCL's at compile time and at run time; 0 without NCCL
  int library_code = 0;
};

struct Call {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  DataType type = DataType::kFloat;
  ReduceOp op = ReduceOp::kSum;
  std::uint64_t count = 0;
  bool in_place = false;
};

struct Mismatches {
  std::uint64_t count = 0;           // elements, over the ranks of this process
  std::vector<std::string> first{};  // per rank with any: "rank 1: 3 wrong, first at offset 5: got 7, expected 6"
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual base::Result<Place> Connect() = 0;
  virtual Identity identity() const = 0;
  virtual std::vector<Device> LocalDevices() const = 0;
  // The texts of all processes, in their order, on process 0; an empty list on the others.
  virtual base::Result<std::vector<std::string>> Gather(const std::string& text) = 0;
  // Bytes that a rank may use for its buffers, the least over all ranks.
  virtual base::Result<std::uint64_t> Memory() = 0;
  virtual base::Status Allocate(std::uint64_t send_bytes, std::uint64_t receive_bytes) = 0;

  // Writes the pattern of `seed` where `call` reads, and clears what it writes elsewhere.
  virtual base::Status Fill(const Call& call, std::uint64_t seed) = 0;
  // Starts one collective; it may still run on return.
  virtual base::Status Run(const Call& call) = 0;
  // Waits for everything that Run has started.
  virtual base::Status Finish() = 0;
  // Compares what `call` has written with the expectation of `seed`.
  virtual base::Result<Mismatches> Check(const Call& call, std::uint64_t seed) = 0;
  // For tests: spoils element `offset` of what `call` has written, when `rank` is of this process.
  virtual base::Status Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) = 0;

  virtual base::Status Barrier() = 0;
  // The sum over all processes, on each of them.
  virtual base::Result<double> Sum(double value) = 0;

  virtual base::Status Close() = 0;
  // Ends all processes; may return.
  virtual void Abort(int code) = 0;
  // nccl-tests' exit status for the last Error: 1 internal, 2 CUDA, 3 NCCL.
  virtual int FailureCode() const = 0;
};

// Each backend's shared object exports exactly this, under the name in kBackendEntry. The caller owns the result.
using MakeBackend = Backend* (*)(const BackendSetup&);
inline constexpr const char* kBackendEntry = "nccl_bench_make_backend_1";

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_BACKEND_H_
