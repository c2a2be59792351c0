// SPDX-License-Identifier: Apache-2.0
#include "bench/nccl_calls.h"

#include <algorithm>
#include <array>

#include "bench/host_data.h"

namespace nccl_tune::bench {
namespace {

using base::Status;

// A call with everything NCCL asks for looked up.
struct Ready {
  const NcclLibrary& library;
  const NcclCall& one;
  std::uint64_t count;
  std::uint64_t bytes;  // of one element
  ncclDataType_t type;
  int rank;
  int ranks;
  int root;
  ncclComm_t communicator;
  cudaStream_t stream;

  ncclResult_t Send(const char* from, std::uint64_t elements, int peer) const {
    return library.Send(from, elements, type, peer, communicator, stream);
  }
  ncclResult_t Receive(char* to, std::uint64_t elements, int peer) const {
    return library.Recv(to, elements, type, peer, communicator, stream);
  }
};

// Sends and receives between the two go out together; the first failure counts.
template <typename Steps>
ncclResult_t Grouped(const Ready& ready, Steps steps) {
  if (const ncclResult_t status = ready.library.GroupStart(); status != ncclSuccess) return status;
  const ncclResult_t inner = steps();
  const ncclResult_t outer = ready.library.GroupEnd();
  return inner != ncclSuccess ? inner : outer;
}

ncclResult_t Alltoall(const Ready& ready) {
  const NcclCall& one = ready.one;
  if (ready.library.AlltoAll != nullptr) {
    return ready.library.AlltoAll(one.send, one.receive, ready.count, ready.type, ready.communicator, ready.stream);
  }
  const std::uint64_t part = ready.count * ready.bytes;
  return Grouped(ready, [&] {
    ncclResult_t status = ncclSuccess;
    for (int peer = 0; peer < ready.ranks && status == ncclSuccess; ++peer) {
      const auto at = static_cast<std::uint64_t>(peer) * part;
      status = ready.Send(one.send + at, ready.count, peer);
      if (status == ncclSuccess) status = ready.Receive(one.receive + at, ready.count, peer);
    }
    return status;
  });
}

ncclResult_t Alltoallv(const Ready& ready) {
  const NcclCall& one = ready.one;
  const auto ranks = static_cast<std::uint64_t>(ready.ranks);
  const auto rank = static_cast<std::uint64_t>(ready.rank);
  const Traffic& traffic = *one.call->traffic;
  const std::uint64_t total = ready.count * ranks * ready.bytes;
  return Grouped(ready, [&] {
    const char* from = one.send;
    char* to = one.receive;
    ncclResult_t status = ncclSuccess;
    for (std::uint64_t peer = 0; peer < ranks && status == ncclSuccess; ++peer) {
      const std::uint64_t sent = traffic.Bytes(rank, peer, ranks, total) / ready.bytes;
      const std::uint64_t received = traffic.Bytes(peer, rank, ranks, total) / ready.bytes;
      if (sent > 0) status = ready.Send(from, sent, static_cast<int>(peer));
      if (received > 0 && status == ncclSuccess) status = ready.Receive(to, received, static_cast<int>(peer));
      from += sent * ready.bytes;
      to += received * ready.bytes;
    }
    return status;
  });
}

ncclResult_t Gather(const Ready& ready) {
  const NcclCall& one = ready.one;
  if (ready.count == 0) return ncclSuccess;
  if (ready.library.Gather != nullptr) {
    return ready.library.Gather(one.send, one.receive, ready.count, ready.type, ready.root, ready.communicator,
                                ready.stream);
  }
  return Grouped(ready, [&] {
    ncclResult_t status = ready.Send(one.send, ready.count, ready.root);
    for (int peer = 0; ready.rank == ready.root && peer < ready.ranks && status == ncclSuccess; ++peer) {
      const auto at = static_cast<std::uint64_t>(peer) * ready.count * ready.bytes;
      status = ready.Receive(one.receive + at, ready.count, peer);
    }
    return status;
  });
}

ncclResult_t Scatter(const Ready& ready) {
  const NcclCall& one = ready.one;
  if (ready.count == 0) return ncclSuccess;
  if (ready.library.Scatter != nullptr) {
    return ready.library.Scatter(one.send, one.receive, ready.count, ready.type, ready.root, ready.communicator,
                                 ready.stream);
  }
  return Grouped(ready, [&] {
    ncclResult_t status = ncclSuccess;
    for (int peer = 0; ready.rank == ready.root && peer < ready.ranks && status == ncclSuccess; ++peer) {
      const auto at = static_cast<std::uint64_t>(peer) * ready.count * ready.bytes;
      status = ready.Send(one.send + at, ready.count, peer);
    }
    return status == ncclSuccess ? ready.Receive(one.receive, ready.count, ready.root) : status;
  });
}

ncclResult_t Sendrecv(const Ready& ready) {
  const int next = (ready.rank + 1) % ready.ranks;
  const int previous = (ready.rank + ready.ranks - 1) % ready.ranks;
  return Grouped(ready, [&] {
    const ncclResult_t status = ready.Send(ready.one.send, ready.count, next);
    return status == ncclSuccess ? ready.Receive(ready.one.receive, ready.count, previous) : status;
  });
}

// An all-gather in steps that double what each rank has.
ncclResult_t Hypercube(const Ready& ready) {
  const NcclCall& one = ready.one;
  const std::uint64_t part = ready.count * ready.bytes;
  char* const own = one.receive + static_cast<std::uint64_t>(ready.rank) * part;
  if (own != one.send && cudaMemcpyAsync(own, one.send, part, cudaMemcpyDeviceToDevice, ready.stream) != cudaSuccess) {
    return ncclUnhandledCudaError;
  }
  for (int bit = 1; bit < ready.ranks; bit <<= 1) {
    const int have = ready.rank & ~(bit - 1);
    const int want = have ^ bit;
    const int peer = ready.rank ^ bit;
    const std::uint64_t elements = ready.count * static_cast<std::uint64_t>(bit);
    const ncclResult_t status = Grouped(ready, [&] {
      const ncclResult_t sent = ready.Send(one.receive + static_cast<std::uint64_t>(have) * part, elements, peer);
      if (sent != ncclSuccess) return sent;
      return ready.Receive(one.receive + static_cast<std::uint64_t>(want) * part, elements, peer);
    });
    if (status != ncclSuccess) return status;
  }
  return ncclSuccess;
}

ncclResult_t Reduction(const Ready& ready, ncclRedOp_t op) {
  const NcclLibrary& nccl = ready.library;
  const NcclCall& one = ready.one;
  switch (one.call->collective->kind) {
    case CollectiveKind::kReduce:
      return nccl.Reduce(one.send, one.receive, ready.count, ready.type, op, ready.root, ready.communicator,
                         ready.stream);
    case CollectiveKind::kReduceScatter:
      return nccl.ReduceScatter(one.send, one.receive, ready.count, ready.type, op, ready.communicator, ready.stream);
    default:
      return nccl.AllReduce(one.send, one.receive, ready.count, ready.type, op, ready.communicator, ready.stream);
  }
}

// mulsum is an operation of its own for each rank, made for one call as nccl-tests does.
ncclResult_t ScaledReduction(const Ready& ready) {
  std::array<unsigned char, 8> scalar = PremulBytes(ready.one.call->type, static_cast<std::uint64_t>(ready.rank));
  ncclRedOp_t op = ncclSum;
  ncclResult_t status =
      ready.library.RedOpCreatePreMulSum(&op, scalar.data(), ready.type, ncclScalarHostImmediate, ready.communicator);
  if (status != ncclSuccess) return status;
  status = Reduction(ready, op);
  const ncclResult_t destroyed = ready.library.RedOpDestroy(op, ready.communicator);
  return status != ncclSuccess ? status : destroyed;
}

ncclRedOp_t PlainOpOf(ReduceOp op) {
  switch (op) {
    case ReduceOp::kProd:
      return ncclProd;
    case ReduceOp::kMax:
      return ncclMax;
    case ReduceOp::kMin:
      return ncclMin;
    case ReduceOp::kAvg:
      return ncclAvg;
    case ReduceOp::kSum:
    case ReduceOp::kMulsum:
      break;
  }
  return ncclSum;
}

ncclResult_t Dispatch(const Ready& ready) {
  const NcclCall& one = ready.one;
  switch (one.call->collective->kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduce:
    case CollectiveKind::kReduceScatter:
      return one.call->op == ReduceOp::kMulsum ? ScaledReduction(ready) : Reduction(ready, PlainOpOf(one.call->op));
    case CollectiveKind::kAllGather:
      return ready.library.AllGather(one.send, one.receive, ready.count, ready.type, ready.communicator, ready.stream);
    case CollectiveKind::kBroadcast:
      return ready.library.Broadcast(one.send, one.receive, ready.count, ready.type, ready.root, ready.communicator,
                                     ready.stream);
    case CollectiveKind::kAlltoall:
      return Alltoall(ready);
    case CollectiveKind::kAlltoallv:
      return Alltoallv(ready);
    case CollectiveKind::kScatter:
      return Scatter(ready);
    case CollectiveKind::kGather:
      return Gather(ready);
    case CollectiveKind::kSendrecv:
      return Sendrecv(ready);
    case CollectiveKind::kHypercube:
      break;
  }
  return Hypercube(ready);
}

constexpr const char* FunctionOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return "ncclAllReduce";
    case CollectiveKind::kAllGather:
      return "ncclAllGather";
    case CollectiveKind::kBroadcast:
      return "ncclBroadcast";
    case CollectiveKind::kReduceScatter:
      return "ncclReduceScatter";
    case CollectiveKind::kReduce:
      return "ncclReduce";
    case CollectiveKind::kAlltoall:
      return "ncclAlltoAll";
    case CollectiveKind::kScatter:
      return "ncclScatter";
    case CollectiveKind::kGather:
      return "ncclGather";
    case CollectiveKind::kAlltoallv:
    case CollectiveKind::kSendrecv:
    case CollectiveKind::kHypercube:
      break;
  }
  return "ncclSend, ncclRecv";
}

}  // namespace

ncclDataType_t NcclTypeOf(DataType type) {
  // NCCL's numbers of the two are the same in all releases that have them; older headers lack the names.
  constexpr int kFloat8e4m3 = 10;
  constexpr int kFloat8e5m2 = 11;
  switch (type) {
    case DataType::kInt8:
      return ncclInt8;
    case DataType::kUint8:
      return ncclUint8;
    case DataType::kInt32:
      return ncclInt32;
    case DataType::kUint32:
      return ncclUint32;
    case DataType::kInt64:
      return ncclInt64;
    case DataType::kUint64:
      return ncclUint64;
    case DataType::kHalf:
      return ncclFloat16;
    case DataType::kDouble:
      return ncclFloat64;
    case DataType::kBfloat16:
      return ncclBfloat16;
    case DataType::kF8e4m3:
      return static_cast<ncclDataType_t>(kFloat8e4m3);
    case DataType::kF8e5m2:
      return static_cast<ncclDataType_t>(kFloat8e5m2);
    case DataType::kFloat:
      break;
  }
  return ncclFloat32;
}

Status StartCall(NcclState& nccl, const NcclCall& one) {
  const Ready ready{.library = nccl.library,
                    .one = one,
                    .count = one.call->shape.count,
                    .bytes = BytesOf(one.call->type),
                    .type = NcclTypeOf(one.call->type),
                    .rank = static_cast<int>(one.gpu->rank),
                    .ranks = static_cast<int>(one.ranks),
                    .root = static_cast<int>(one.call->root),
                    .communicator = one.gpu->communicator,
                    .stream = one.gpu->stream};
  return nccl.Nccl(Dispatch(ready), FunctionOf(one.call->collective->kind));
}

}  // namespace nccl_tune::bench
