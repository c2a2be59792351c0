// SPDX-License-Identifier: Apache-2.0
#include "bench/mpi_worker.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr std::uint64_t kMostTypeBytes = 8;

bool IsSame(const Shape& a, const Shape& b) {
  return a.count == b.count && a.send_count == b.send_count && a.receive_count == b.receive_count &&
         a.send_stride == b.send_stride && a.receive_stride == b.receive_stride;
}

bool IsSame(const Call& a, const Call& b) {
  return a.collective == b.collective && a.type == b.type && a.op == b.op && a.root == b.root &&
         a.in_place == b.in_place && a.traffic == b.traffic && IsSame(a.shape, b.shape);
}

MPI_Op OpOf(Combine how) {
  if (how == Combine::kMin) return MPI_MIN;
  if (how == Combine::kMax) return MPI_MAX;
  return MPI_SUM;
}

// One behind the other, each of as many elements as its rank has for it.
void Append(std::uint64_t count, std::vector<MpiPart>& parts) {
  const std::uint64_t begin = parts.empty() ? 0 : parts.back().begin + parts.back().count;
  parts.push_back({.begin = begin, .count = count});
}

}  // namespace

Status MpiStatus(int code, const std::string& call) {
  if (code == MPI_SUCCESS) return base::Ok();
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  return Error{.what = text, .where = call};
}

void MpiWorker::Free::operator()(std::byte* memory) const { std::free(memory); }

// Pages that were never written are one page of zeros, which the caches serve.
Result<MpiWorker::Buffer> MpiWorker::MakeBuffer(std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t pages = (bytes + setup_.unaligned * kMostTypeBytes) / kPage + 1;
  Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(kPage, pages * kPage)));
  if (buffer == nullptr) {
    return Error{.what = "no memory for a buffer of " + std::to_string(bytes) + " bytes"};
  }
  std::memset(buffer.get(), 0, pages * kPage);
  allocated_ += pages * kPage;
  return buffer;
}

Status MpiWorker::Allocate(std::uint64_t bytes) {
  NCCL_TUNE_ASSIGN_OR_RETURN(send, MakeBuffer(bytes));
  NCCL_TUNE_ASSIGN_OR_RETURN(receive, MakeBuffer(bytes));
  if (setup_.scales) {
    NCCL_TUNE_ASSIGN_OR_RETURN(scaled, MakeBuffer(bytes));
    scaled_ = std::move(scaled);
  }
  send_ = std::move(send);
  receive_ = std::move(receive);
  bytes_ = bytes;
  return base::Ok();
}

void MpiWorker::SetGroup(const MpiGroup& group) {
  group_ = group;
  now_ = {};
}

Seat MpiWorker::SeatOf(const Call& call) const {
  return {.rank = static_cast<std::uint64_t>(group_.rank),
          .ranks = static_cast<std::uint64_t>(group_.ranks),
          .root = call.root,
          .type_bytes = BytesOf(call.type),
          .in_place = call.in_place,
          .traffic = call.traffic};
}

DataKey MpiWorker::KeyOf(const Call& call, std::uint64_t seed) const {
  return {.type = call.type,
          .op = call.op,
          .seed = seed,
          .ranks = static_cast<std::uint64_t>(group_.ranks),
          .rank = static_cast<std::uint64_t>(group_.rank),
          .reduces = call.collective->reduces};
}

void MpiWorker::ResolveParts(const Call& call, MpiCall& mpi) const {
  const auto ranks = static_cast<std::uint64_t>(mpi.ranks);
  const auto rank = static_cast<std::uint64_t>(mpi.rank);
  const std::uint64_t total = call.shape.count * ranks * mpi.type_bytes;
  for (std::uint64_t peer = 0; peer < ranks; ++peer) {
    Append(call.traffic->Bytes(rank, peer, ranks, total) / mpi.type_bytes, mpi.sends);
    Append(call.traffic->Bytes(peer, rank, ranks, total) / mpi.type_bytes, mpi.receives);
  }
  mpi.most_sent = call.shape.send_count;
  mpi.most_received = call.shape.receive_count;
  CountParts(mpi);
}

Status MpiWorker::Resolve(const Call& call) {
  if (group_.comm == MPI_COMM_NULL) return Error{.what = "a collective, but this process is in no group"};
  const Collective& collective = *call.collective;
  const std::uint64_t type_bytes = BytesOf(call.type);
  const std::uint64_t total = std::max(call.shape.send_count, call.shape.receive_count) * type_bytes;
  if (total > bytes_) {
    return Error{.what = "the buffers have " + std::to_string(bytes_) + " bytes, a call needs " + std::to_string(total),
                 .where = std::string(collective.name)};
  }
  const bool reduces = collective.reduces;
  const auto rank = static_cast<std::uint64_t>(group_.rank);
  Resolved next{.call = call, .operation = OperationOf(collective.kind), .total = total};
  next.mpi = {.group = group_.comm,
              .rank = group_.rank,
              .ranks = group_.ranks,
              .root = static_cast<int>(call.root),
              .type = MpiTypeOf(call.type),
              .op = reduces ? ops_.Of(call.type, call.op) : MPI_OP_NULL,
              .type_bytes = type_bytes,
              .count = call.shape.count,
              .in_place = call.in_place,
              .most = setup_.most};
  if (reduces && next.mpi.op == MPI_OP_NULL) return Error{.what = "MPI refuses an operation", .where = "MPI_Op_create"};
  next.steps = total > 0 ? bytes_ / total : 1;
  next.unaligned = setup_.unaligned * type_bytes;
  next.sends = collective.sends(call.shape, SeatOf(call));
  next.source = rank * call.shape.send_stride * type_bytes;
  const bool at_begin = collective.kind == CollectiveKind::kReduceScatter;
  if (call.in_place && !at_begin) next.result = rank * call.shape.receive_stride * type_bytes;
  next.scales = reduces && call.op == ReduceOp::kMulsum;
  const bool has_result = collective.kind != CollectiveKind::kReduce || call.root == rank;
  if (reduces && call.op == ReduceOp::kAvg && has_result) next.divided = call.shape.receive_count;
  if (next.scales) next.mpi.in_place = false;
  if (collective.kind == CollectiveKind::kAlltoallv) {
    next.swaps = call.in_place;
    next.mpi.in_place = false;
    ResolveParts(call, next.mpi);
  }
  now_ = std::move(next);
  return base::Ok();
}

std::byte* MpiWorker::Source() const {
  return now_.call.in_place ? Receive() + now_.source : send_.get() + now_.unaligned;
}

Status MpiWorker::Fill(const Call& call, std::uint64_t seed) {
  NCCL_TUNE_RETURN_IF_ERROR(Resolve(call));
  std::memset(Receive(), 0, now_.total);
  if (now_.sends > 0) FillData(KeyOf(call, seed), now_.sends, Source());
  return base::Ok();
}

Status MpiWorker::Start(const Call& call, std::uint64_t iteration) {
  if (!IsSame(call, now_.call)) NCCL_TUNE_RETURN_IF_ERROR(Resolve(call));
  const std::uint64_t shift = now_.total * (iteration % now_.steps);
  std::byte* receive = Receive() + shift;
  std::byte* send = send_.get() + now_.unaligned + shift;
  if (now_.scales) {
    send = scaled_.get();
    std::memcpy(send, Source() + shift, now_.sends * now_.mpi.type_bytes);
    ScaleData(call.type, static_cast<std::uint64_t>(group_.rank), now_.sends, send);
  }
  if (now_.swaps) std::swap(send, receive);
  if (setup_.dog != nullptr) setup_.dog->Begin();
  const int code = now_.operation.run(now_.mpi, send, receive);
  if (code != MPI_SUCCESS) {
    NCCL_TUNE_RETURN_IF_ERROR(Finish());
    return MpiStatus(code, now_.operation.name);
  }
  if (now_.divided > 0) {
    DivideData(call.type, static_cast<std::uint64_t>(group_.ranks), now_.divided, receive + now_.result);
  }
  return base::Ok();
}

Status MpiWorker::Finish() {
  if (setup_.dog != nullptr) setup_.dog->End();
  return base::Ok();
}

Result<Mismatches> MpiWorker::Check(const Call& call, std::uint64_t seed) {
  NCCL_TUNE_RETURN_IF_ERROR(Resolve(call));
  const std::vector<Stretch> stretches = call.collective->expects(call.shape, SeatOf(call));
  return CheckData(KeyOf(call, seed), stretches, Receive() + now_.result);
}

Status MpiWorker::Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) {
  if (rank != static_cast<std::uint64_t>(group_.rank)) return base::Ok();
  NCCL_TUNE_RETURN_IF_ERROR(Resolve(call));
  CorruptData(call.type, offset, Receive() + now_.result);
  return base::Ok();
}

Status MpiWorker::ReserveMarks(std::size_t count) {
  marks_.assign(count, {});
  return base::Ok();
}

Status MpiWorker::Mark(std::size_t index) {
  marks_[index] = std::chrono::steady_clock::now();
  return base::Ok();
}

Result<std::vector<double>> MpiWorker::Between(const std::vector<std::pair<std::size_t, std::size_t>>& marks) {
  std::vector<double> seconds;
  for (const auto& [first, second] : marks) {
    seconds.push_back(std::chrono::duration<double>(marks_[second] - marks_[first]).count());
  }
  return seconds;
}

Status MpiWorker::BeginCapture() {
  return Error{.code = Code::kUnsupported, .what = "host memory has no graphs", .where = "-G"};
}
Status MpiWorker::EndCapture() { return BeginCapture(); }
Status MpiWorker::Replay() { return BeginCapture(); }
Status MpiWorker::DropCapture() { return BeginCapture(); }

Status MpiWorker::Barrier() {
  const Watched watched(setup_.dog);
  return MpiStatus(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

Result<double> MpiWorker::Reduce(double value, Combine how) {
  const Watched watched(setup_.dog);
  double all = 0;
  NCCL_TUNE_RETURN_IF_ERROR(
      MpiStatus(MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, OpOf(how), MPI_COMM_WORLD), "MPI_Allreduce"));
  return all;
}

Result<std::vector<std::vector<double>>> MpiWorker::GatherGreatest(const std::vector<double>& values) {
  const Watched watched(setup_.dog);
  int rank = 0;
  int ranks = 1;
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank"));
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size"));
  std::vector<double> all(rank == 0 ? values.size() * static_cast<std::size_t>(ranks) : 0);
  const int count = static_cast<int>(values.size());
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(
      MPI_Gather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD), "MPI_Gather"));
  std::vector<std::vector<double>> per_process;
  for (int process = 0; rank == 0 && process < ranks; ++process) {
    const auto begin = all.begin() + process * static_cast<std::ptrdiff_t>(values.size());
    per_process.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(values.size()));
  }
  return per_process;
}

}  // namespace nccl_tune::bench
