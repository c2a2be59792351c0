// SPDX-License-Identifier: Apache-2.0
//
// What nccl-tests makes of sends and receives: the ring, the hypercube and the alltoallv.
#include <cstring>

#include "bench/mpi_calls.h"

namespace nccl_tune::bench {
namespace {

constexpr int kTag = 0;

bool FitsOneCall(const MpiCall& call) { return std::max(call.most_sent, call.most_received) <= call.most; }

// One piece of a part: nobody is its other side when the part has ended before.
struct Piece {
  int peer = MPI_PROC_NULL;
  std::uint64_t begin = 0;  // in bytes
  int count = 0;
};

Piece PieceOf(const MpiCall& call, const MpiPart& part, int peer, std::uint64_t done) {
  if (done >= part.count) return {};
  return {.peer = peer,
          .begin = (part.begin + done) * call.type_bytes,
          .count = static_cast<int>(std::min(part.count - done, call.most))};
}

// With each rank in turn. The two sides of a part cut it alike.
int Pairwise(const MpiCall& call, const std::byte* send, std::byte* receive) {
  for (int step = 0; step < call.ranks; ++step) {
    const int to = (call.rank + step) % call.ranks;
    const int from = (call.rank - step + call.ranks) % call.ranks;
    const MpiPart& out = call.sends[static_cast<std::size_t>(to)];
    const MpiPart& in = call.receives[static_cast<std::size_t>(from)];
    for (std::uint64_t done = 0; done < std::max(out.count, in.count); done += call.most) {
      const Piece sent = PieceOf(call, out, to, done);
      const Piece got = PieceOf(call, in, from, done);
      const int code = MPI_Sendrecv(send + sent.begin, sent.count, call.type, sent.peer, kTag, receive + got.begin,
                                    got.count, call.type, got.peer, kTag, call.group, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) return code;
    }
  }
  return MPI_SUCCESS;
}

}  // namespace

int RingSendrecv(const MpiCall& call, const std::byte* send, std::byte* receive) {
  const int to = (call.rank + 1) % call.ranks;
  const int from = (call.rank - 1 + call.ranks) % call.ranks;
  return InPieces(call, call.count, [&](std::uint64_t offset, int count) {
    if (call.in_place) {
      return MPI_Sendrecv_replace(receive + offset, count, call.type, to, kTag, from, kTag, call.group,
                                  MPI_STATUS_IGNORE);
    }
    return MPI_Sendrecv(send + offset, count, call.type, to, kTag, receive + offset, count, call.type, from, kTag,
                        call.group, MPI_STATUS_IGNORE);
  });
}

int HypercubeGather(const MpiCall& call, const std::byte* send, std::byte* receive) {
  const std::uint64_t block = call.count * call.type_bytes;
  const auto rank = static_cast<unsigned>(call.rank);
  if (!call.in_place) std::memcpy(receive + rank * block, send, block);
  for (unsigned mask = 1; mask < static_cast<unsigned>(call.ranks); mask <<= 1U) {
    const int peer = static_cast<int>(rank ^ mask);
    const unsigned first = rank & ~(mask - 1);  // of the blocks that are here by now
    const std::byte* const out = receive + first * block;
    std::byte* const in = receive + (first ^ mask) * block;
    const int code = InPieces(call, call.count * mask, [&](std::uint64_t offset, int count) {
      return MPI_Sendrecv(out + offset, count, call.type, peer, kTag, in + offset, count, call.type, peer, kTag,
                          call.group, MPI_STATUS_IGNORE);
    });
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

// Four lists one behind the other: send counts, send displacements, receive counts, receive displacements.
void CountParts(MpiCall& call) {
  call.arguments.clear();
  if (!FitsOneCall(call)) return;
  for (const auto* parts : {&call.sends, &call.receives}) {
    for (const MpiPart& part : *parts) call.arguments.push_back(static_cast<int>(part.count));
    for (const MpiPart& part : *parts) call.arguments.push_back(static_cast<int>(part.begin));
  }
}

int UnequalAlltoall(const MpiCall& call, const std::byte* send, std::byte* receive) {
  if (call.arguments.empty()) return Pairwise(call, send, receive);
  const int* const lists = call.arguments.data();
  return MPI_Alltoallv(send, lists, lists + call.ranks, call.type, receive, lists + 2 * call.ranks,
                       lists + 3 * call.ranks, call.type, call.group);
}

}  // namespace nccl_tune::bench
