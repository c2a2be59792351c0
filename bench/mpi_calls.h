// SPDX-License-Identifier: Apache-2.0
//
// The collectives as MPI's own calls on host memory. A function here does what must be done for one collective and no
// more: all that is the same for each iteration stands in MpiCall.
//
// MPI counts in int. What is beyond is cut into pieces: reductions and messages into shorter ones, those with one block
// per rank by a datatype that skips the rest of the block.
//
// Threads: as MPI's. Ownership: nothing here owns anything. Errors: MPI's code, MPI_SUCCESS or the first other one.
#ifndef NCCL_TUNE_BENCH_MPI_CALLS_H_
#define NCCL_TUNE_BENCH_MPI_CALLS_H_

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/collective.h"

namespace nccl_tune::bench {

// The most elements of one call of MPI.
inline constexpr std::uint64_t kMostElements = 1ULL << 30U;

// What one rank exchanges with another in an alltoallv, in elements.
struct MpiPart {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
};

struct MpiCall {
  MPI_Comm group = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
  int root = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::uint64_t type_bytes = 1;
  std::uint64_t count = 0;      // Shape's
  bool in_place = false;        // then what is sent lies in the receive buffer, as Shape says
  std::uint64_t most_sent = 0;  // of an alltoallv, by any rank to all
  std::uint64_t most_received = 0;
  std::vector<MpiPart> sends{};
  std::vector<MpiPart> receives{};
  std::vector<int> arguments{};  // of MPI_Alltoallv, see CountParts
  std::uint64_t most = kMostElements;
};

// `send` is not looked at in place. An alltoallv is never in place: its parts have no common size. The result begins at
// `receive`, except that a scatter in place leaves it at rank * count from there; a reduce-scatter in place has it at
// the beginning, as MPI does and NCCL does not.
using MpiFunction = int (*)(const MpiCall& call, const std::byte* send, std::byte* receive);

struct MpiOperation {
  MpiFunction run = nullptr;
  const char* name = "";  // of MPI's function
};

MpiOperation OperationOf(CollectiveKind kind);

// Fills in `arguments` from sends and receives.
void CountParts(MpiCall& call);

int RingSendrecv(const MpiCall& call, const std::byte* send, std::byte* receive);
int HypercubeGather(const MpiCall& call, const std::byte* send, std::byte* receive);
int UnequalAlltoall(const MpiCall& call, const std::byte* send, std::byte* receive);

// Calls `use(offset in bytes, count)` for each piece of `count` elements, once for none.
template <typename Use>
int InPieces(const MpiCall& call, std::uint64_t count, Use use) {
  std::uint64_t done = 0;
  do {
    const std::uint64_t piece = std::min(count - done, call.most);
    const int code = use(done * call.type_bytes, static_cast<int>(piece));
    if (code != MPI_SUCCESS) return code;
    done += piece;
  } while (done < count);
  return MPI_SUCCESS;
}

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_MPI_CALLS_H_
