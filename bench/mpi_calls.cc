// SPDX-License-Identifier: Apache-2.0
#include "bench/mpi_calls.h"

#include <cstring>

namespace nccl_tune::bench {
namespace {

// `count` elements that are one block of `call`, so that the next lies where the next rank's block begins.
int MakeBlock(const MpiCall& call, std::uint64_t count, MPI_Datatype& block) {
  MPI_Datatype part = MPI_DATATYPE_NULL;
  int code = MPI_Type_contiguous(static_cast<int>(count), call.type, &part);
  if (code != MPI_SUCCESS) return code;
  code = MPI_Type_create_resized(part, 0, static_cast<MPI_Aint>(call.count * call.type_bytes), &block);
  const int freed = MPI_Type_free(&part);
  if (code == MPI_SUCCESS) code = MPI_Type_commit(&block);
  return code == MPI_SUCCESS ? freed : code;
}

// Calls `use(offset in bytes, count, type)` for each piece of the blocks that all ranks have in one buffer.
template <typename Use>
int InBlocks(const MpiCall& call, Use use) {
  const auto ranks = static_cast<std::uint64_t>(call.ranks);
  if (call.count * ranks <= call.most) return use(std::uint64_t{0}, static_cast<int>(call.count), call.type);
  const std::uint64_t most = std::max<std::uint64_t>(call.most / ranks, 1);
  for (std::uint64_t done = 0; done < call.count; done += most) {
    MPI_Datatype block = MPI_DATATYPE_NULL;
    int code = MakeBlock(call, std::min(call.count - done, most), block);
    if (code == MPI_SUCCESS) code = use(done * call.type_bytes, 1, block);
    if (block != MPI_DATATYPE_NULL) MPI_Type_free(&block);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int AllReduce(const MpiCall& call, const std::byte* send, std::byte* receive) {
  return InPieces(call, call.count, [&](std::uint64_t offset, int count) {
    const void* const from = call.in_place ? MPI_IN_PLACE : send + offset;
    return MPI_Allreduce(from, receive + offset, count, call.type, call.op, call.group);
  });
}

int AllGather(const MpiCall& call, const std::byte* send, std::byte* receive) {
  return InBlocks(call, [&](std::uint64_t offset, int count, MPI_Datatype type) {
    const void* const from = call.in_place ? MPI_IN_PLACE : send + offset;
    return MPI_Allgather(from, count, type, receive + offset, count, type, call.group);
  });
}

// Out of place the root gets its data too, as with NCCL.
int Broadcast(const MpiCall& call, const std::byte* send, std::byte* receive) {
  const bool sends = call.rank == call.root && !call.in_place;
  std::byte* const buffer = sends ? const_cast<std::byte*>(send) : receive;
  const int code = InPieces(call, call.count, [&](std::uint64_t offset, int count) {
    return MPI_Bcast(buffer + offset, count, call.type, call.root, call.group);
  });
  if (sends) std::memcpy(receive, send, call.count * call.type_bytes);
  return code;
}

// To rank `root`, whose result goes to `receive`; the same address as `send`: in place.
int ReduceTo(const MpiCall& call, int root, const std::byte* send, std::byte* receive) {
  return InPieces(call, call.count, [&](std::uint64_t offset, int count) {
    const bool is_root = call.rank == root;
    const void* const from = is_root && send == receive ? MPI_IN_PLACE : send + offset;
    return MPI_Reduce(from, is_root ? receive + offset : nullptr, count, call.type, call.op, root, call.group);
  });
}

int Reduce(const MpiCall& call, const std::byte* send, std::byte* receive) {
  return ReduceTo(call, call.root, call.in_place ? receive : send, receive);
}

// Beyond int block by block: MPI reduces no derived datatypes. In place a rank's result overwrites the block of rank 0,
// which is done by then.
int ReduceScatter(const MpiCall& call, const std::byte* send, std::byte* receive) {
  if (call.count * static_cast<std::uint64_t>(call.ranks) <= call.most) {
    return MPI_Reduce_scatter_block(call.in_place ? MPI_IN_PLACE : send, receive, static_cast<int>(call.count),
                                    call.type, call.op, call.group);
  }
  const std::byte* const blocks = call.in_place ? receive : send;
  for (int root = 0; root < call.ranks; ++root) {
    const std::uint64_t begin = static_cast<std::uint64_t>(root) * call.count * call.type_bytes;
    if (const int code = ReduceTo(call, root, blocks + begin, receive); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int Alltoall(const MpiCall& call, const std::byte* send, std::byte* receive) {
  return InBlocks(call, [&](std::uint64_t offset, int count, MPI_Datatype type) {
    const void* const from = call.in_place ? MPI_IN_PLACE : send + offset;
    return MPI_Alltoall(from, count, type, receive + offset, count, type, call.group);
  });
}

// The own block among those of all ranks.
std::uint64_t OwnBlock(const MpiCall& call) {
  return static_cast<std::uint64_t>(call.rank) * call.count * call.type_bytes;
}

int Scatter(const MpiCall& call, const std::byte* send, std::byte* receive) {
  const bool is_root = call.rank == call.root;
  const std::byte* const from = call.in_place ? receive : send;
  std::byte* const to = call.in_place ? receive + OwnBlock(call) : receive;
  return InBlocks(call, [&](std::uint64_t offset, int count, MPI_Datatype type) {
    return MPI_Scatter(is_root ? from + offset : nullptr, count, type,
                       is_root && call.in_place ? MPI_IN_PLACE : to + offset, count, type, call.root, call.group);
  });
}

int Gather(const MpiCall& call, const std::byte* send, std::byte* receive) {
  const bool is_root = call.rank == call.root;
  const std::byte* const from = call.in_place ? receive + OwnBlock(call) : send;
  return InBlocks(call, [&](std::uint64_t offset, int count, MPI_Datatype type) {
    return MPI_Gather(is_root && call.in_place ? MPI_IN_PLACE : from + offset, count, type,
                      is_root ? receive + offset : nullptr, count, type, call.root, call.group);
  });
}

}  // namespace

MpiOperation OperationOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return {AllReduce, "MPI_Allreduce"};
    case CollectiveKind::kAllGather:
      return {AllGather, "MPI_Allgather"};
    case CollectiveKind::kBroadcast:
      return {Broadcast, "MPI_Bcast"};
    case CollectiveKind::kReduceScatter:
      return {ReduceScatter, "MPI_Reduce_scatter_block"};
    case CollectiveKind::kReduce:
      return {Reduce, "MPI_Reduce"};
    case CollectiveKind::kAlltoall:
      return {Alltoall, "MPI_Alltoall"};
    case CollectiveKind::kAlltoallv:
      return {UnequalAlltoall, "MPI_Alltoallv"};
    case CollectiveKind::kScatter:
      return {Scatter, "MPI_Scatter"};
    case CollectiveKind::kGather:
      return {Gather, "MPI_Gather"};
    case CollectiveKind::kSendrecv:
      return {RingSendrecv, "MPI_Sendrecv"};
    case CollectiveKind::kHypercube:
      return {HypercubeGather, "MPI_Sendrecv"};
  }
  return {};
}

}  // namespace nccl_tune::bench
