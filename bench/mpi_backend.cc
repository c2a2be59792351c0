// SPDX-License-Identifier: Apache-2.0
#include "bench/mpi_backend.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

// MPI counts in int; larger calls are cut into several.
constexpr std::uint64_t kMostElements = 1ULL << 30U;

Status Checked(int code, const std::string& call) {
  if (code == MPI_SUCCESS) return base::Ok();
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  return Error{.what = text, .where = call};
}

std::string HostName() {
  std::string name(MPI_MAX_PROCESSOR_NAME, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  name.resize(std::strlen(name.c_str()));
  return name.substr(0, name.find('.'));  // as nccl-tests: without the domain
}

// "Open MPI v4.1.4, package: ..." is cut at the comma.
std::string LibraryVersion() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "MPI";
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  return text.substr(0, text.find(','));
}

}  // namespace

void MpiBackend::Free::operator()(void* memory) const { std::free(memory); }

MpiBackend::~MpiBackend() { static_cast<void>(Close()); }

Result<Place> MpiBackend::Connect() {
  NCCL_TUNE_RETURN_IF_ERROR(Checked(MPI_Init(nullptr, nullptr), "MPI_Init"));
  NCCL_TUNE_RETURN_IF_ERROR(Checked(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Init"));
  NCCL_TUNE_RETURN_IF_ERROR(Checked(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank"));
  NCCL_TUNE_RETURN_IF_ERROR(Checked(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size"));
  ops_ = std::make_unique<MpiOps>();
  return Place{.process = static_cast<std::uint64_t>(rank_),
               .processes = static_cast<std::uint64_t>(size_),
               .ranks = static_cast<std::uint64_t>(size_)};
}

Identity MpiBackend::identity() const { return {.label = "mpi (host memory, " + LibraryVersion() + ")"}; }

std::vector<Device> MpiBackend::LocalDevices() const {
  return {Device{.rank = static_cast<std::uint64_t>(rank_),
                 .process_id = getpid(),
                 .host = HostName(),
                 .index = static_cast<int>(setup_.local_rank),
                 .name = "host memory"}};
}

Result<std::vector<std::string>> MpiBackend::Gather(const std::string& text) {
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(rank_ == 0 ? size_ : 0));
  NCCL_TUNE_RETURN_IF_ERROR(
      Checked(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather"));
  std::vector<int> starts;
  int total = 0;
  for (const int one : lengths) {
    starts.push_back(total);
    total += one;
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  NCCL_TUNE_RETURN_IF_ERROR(Checked(MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(),
                                                starts.data(), MPI_CHAR, 0, MPI_COMM_WORLD),
                                    "MPI_Gatherv"));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

Result<std::uint64_t> MpiBackend::Memory() {
  const std::uint64_t own = setup_.host_memory / std::max<std::uint64_t>(setup_.local_ranks, 1);
  std::uint64_t least = own;
  NCCL_TUNE_RETURN_IF_ERROR(
      Checked(MPI_Allreduce(&own, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce"));
  return least;
}

Result<MpiBackend::Buffer> MpiBackend::MakeBuffer(std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096;
  Buffer buffer(std::aligned_alloc(kPage, (bytes / kPage + 1) * kPage));
  if (buffer == nullptr) {
    return Error{.code = Code::kUnsupported, .what = "no memory for a buffer of " + std::to_string(bytes) + " bytes"};
  }
  return buffer;
}

Status MpiBackend::Allocate(std::uint64_t send_bytes, std::uint64_t receive_bytes) {
  NCCL_TUNE_ASSIGN_OR_RETURN(send, MakeBuffer(send_bytes));
  NCCL_TUNE_ASSIGN_OR_RETURN(receive, MakeBuffer(receive_bytes));
  send_ = std::move(send);
  receive_ = std::move(receive);
  receive_bytes_ = receive_bytes;
  return base::Ok();
}

DataKey MpiBackend::KeyOf(const Call& call, std::uint64_t seed) const {
  return {.type = call.type,
          .op = call.op,
          .seed = seed,
          .ranks = static_cast<std::uint64_t>(size_),
          .rank = static_cast<std::uint64_t>(rank_)};
}

Status MpiBackend::Fill(const Call& call, std::uint64_t seed) {
  if (!call.in_place) std::memset(receive_.get(), 0, std::min(call.count * BytesOf(call.type), receive_bytes_));
  FillData(KeyOf(call, seed), call.count, call.in_place ? receive_.get() : send_.get());
  return base::Ok();
}

Status MpiBackend::Run(const Call& call) {
  const MPI_Datatype type = MpiTypeOf(call.type);
  const MPI_Op op = ops_->Of(call.type, call.op);
  auto* const receive = static_cast<std::byte*>(receive_.get());
  const auto* const send = static_cast<const std::byte*>(send_.get());
  for (std::uint64_t done = 0; done < std::max<std::uint64_t>(call.count, 1); done += kMostElements) {
    const std::uint64_t offset = done * BytesOf(call.type);
    const int count = static_cast<int>(std::min(call.count - done, kMostElements));
    const void* const from = call.in_place ? MPI_IN_PLACE : send + offset;
    NCCL_TUNE_RETURN_IF_ERROR(
        Checked(MPI_Allreduce(from, receive + offset, count, type, op, MPI_COMM_WORLD), "MPI_Allreduce"));
  }
  if (call.op == ReduceOp::kAvg) DivideData(call.type, static_cast<std::uint64_t>(size_), call.count, receive);
  return base::Ok();
}

Result<Mismatches> MpiBackend::Check(const Call& call, std::uint64_t seed) {
  return CheckData(KeyOf(call, seed), call.count, receive_.get());
}

Status MpiBackend::Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) {
  if (rank == static_cast<std::uint64_t>(rank_)) CorruptData(call.type, offset, receive_.get());
  return base::Ok();
}

Status MpiBackend::Barrier() { return Checked(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }

Result<double> MpiBackend::Sum(double value) {
  double sum = 0;
  NCCL_TUNE_RETURN_IF_ERROR(
      Checked(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce"));
  return sum;
}

Status MpiBackend::Close() {
  if (ops_ == nullptr) return base::Ok();
  ops_.reset();
  return Checked(MPI_Finalize(), "MPI_Finalize");
}

void MpiBackend::Abort(int code) {
  if (ops_ != nullptr) MPI_Abort(MPI_COMM_WORLD, code);
}

}  // namespace nccl_tune::bench

// What nccl-bench looks up (kBackendEntry).
extern "C" nccl_tune::bench::Backend* nccl_bench_make_backend_1(const nccl_tune::bench::BackendSetup& setup) {
  return new nccl_tune::bench::MpiBackend(setup);
}
