// SPDX-License-Identifier: Apache-2.0
#include "bench/mpi_backend.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstring>
#include <future>
#include <iterator>
#include <thread>

#include "bench/host_name.h"
#include "bench/split.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr int kTimeout = 4;
constexpr int kInvalidUse = 6;

// "Open MPI v4.1.4, package: ..." is cut at the comma.
std::string LibraryVersion() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "MPI";
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  return text.substr(0, text.find(','));
}

// What each process says of its group.
struct Wish {
  std::uint64_t has_group = 0;
  std::uint64_t group = 0;

  friend bool operator==(const Wish&, const Wish&) = default;
};

// The thread that called MPI may be in it for ever, and MPI_Abort may block as well.
void EndAll(int code) {
  const auto ended = std::make_shared<std::promise<void>>();
  const auto future = ended->get_future();
  std::thread([ended, code] {
    MPI_Abort(MPI_COMM_WORLD, code);
    ended->set_value();
  }).detach();
  constexpr std::chrono::seconds kPatience(5);
  static_cast<void>(future.wait_for(kPatience));
}

}  // namespace

MpiBackend::~MpiBackend() { static_cast<void>(Close()); }

bool MpiBackend::Scales() const {
  const std::vector<ReduceOp>& ops = setup_.options.ops;
  return setup_.options.all_ops || std::find(ops.begin(), ops.end(), ReduceOp::kMulsum) != ops.end();
}

Result<Place> MpiBackend::Connect() {
  for (const auto& [flag, value] : {std::pair("-t", setup_.options.threads), std::pair("-g", setup_.options.gpus)}) {
    if (value == 1) continue;
    failure_ = kInvalidUse;
    return Error{.code = Code::kInvalidInput,
                 .what = "the mpi backend has one rank per process",
                 .where = flag,
                 .seen = std::to_string(value),
                 .expected = "1"};
  }
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Init(nullptr, nullptr), "MPI_Init"));
  connected_ = true;
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Init"));
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank"));
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size"));
  if (setup_.options.timeout_seconds > 0) {
    dog_ = std::make_unique<Watchdog>(std::chrono::seconds(setup_.options.timeout_seconds), [this] { Late(); });
  }
  worker_ = std::make_unique<MpiWorker>(
      MpiWorker::Setup{.most = most_, .unaligned = setup_.options.unaligned, .scales = Scales(), .dog = dog_.get()});
  if (setup_.options.split) return Regroup(GroupOf(*setup_.options.split, static_cast<std::uint64_t>(rank_)));
  return Regroup(0);
}

Identity MpiBackend::identity() const {
  Identity identity{.label = "mpi (host memory, " + LibraryVersion() + ")"};
  for (const TypeName& one : kTypes) identity.types.push_back(one.type);
  for (const OpName& one : kOps) identity.ops.push_back(one.op);
  return identity;
}

std::vector<Device> MpiBackend::LocalDevices() const {
  return {Device{.rank = static_cast<std::uint64_t>(rank_),
                 .group = group_number_,
                 .process_id = getpid(),
                 .host = HostName(),
                 .index = static_cast<int>(setup_.local_rank),
                 .name = "host memory"}};
}

Result<std::string> MpiBackend::Broadcast(const std::string& text) {
  const Watched watched(dog_.get());
  auto length = static_cast<int>(text.size());
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast"));
  std::string shared = text;
  shared.resize(static_cast<std::size_t>(length));
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Bcast(shared.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast"));
  return shared;
}

Result<double> MpiBackend::Sum(double value) {
  const Watched watched(dog_.get());
  double sum = 0;
  NCCL_TUNE_RETURN_IF_ERROR(
      MpiStatus(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce"));
  return sum;
}

Result<std::vector<std::string>> MpiBackend::Gather(const std::string& text) {
  const Watched watched(dog_.get());
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(rank_ == 0 ? size_ : 0));
  NCCL_TUNE_RETURN_IF_ERROR(
      MpiStatus(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather"));
  std::vector<int> starts;
  int total = 0;
  for (const int one : lengths) {
    starts.push_back(total);
    total += one;
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(),
                                                  starts.data(), MPI_CHAR, 0, MPI_COMM_WORLD),
                                      "MPI_Gatherv"));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

// A run reckons with 3 buffers when it checks, else with 2. Here are 2, and 1 more for a mulsum.
Result<std::uint64_t> MpiBackend::Memory() {
  const Watched watched(dog_.get());
  std::uint64_t own = setup_.host_memory / std::max<std::uint64_t>(setup_.local_ranks, 1);
  if (Scales() && setup_.options.checks == 0) own = own / 3 * 2;
  std::uint64_t least = own;
  NCCL_TUNE_RETURN_IF_ERROR(
      MpiStatus(MPI_Allreduce(&own, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce"));
  return least;
}

Status MpiBackend::Join(std::uint64_t bytes) { return worker_->Allocate(bytes); }

void MpiBackend::LeaveGroup() {
  worker_->SetGroup({});
  const bool owned = group_.comm != MPI_COMM_NULL && group_.comm != MPI_COMM_WORLD;
  if (owned) MPI_Comm_free(&group_.comm);
  group_ = {};
}

// MPI's colours are of int, our groups have any number: the first process of a group stands for it.
Status MpiBackend::SplitInto(std::optional<std::uint64_t> group) {
  const Watched watched(dog_.get());
  const Wish own{.has_group = group ? 1U : 0U, .group = group.value_or(0)};
  std::vector<Wish> all(static_cast<std::size_t>(size_));
  NCCL_TUNE_RETURN_IF_ERROR(
      MpiStatus(MPI_Allgather(&own, 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, MPI_COMM_WORLD), "MPI_Allgather"));
  const auto first = std::find(all.begin(), all.end(), own);
  if (group && std::count(all.begin(), all.end(), own) == size_) {
    group_ = {.comm = MPI_COMM_WORLD, .rank = rank_, .ranks = size_};
    return base::Ok();
  }
  const int colour = group ? static_cast<int>(first - all.begin()) : MPI_UNDEFINED;
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_split(MPI_COMM_WORLD, colour, rank_, &group_.comm), "MPI_Comm_split"));
  if (group_.comm == MPI_COMM_NULL) return base::Ok();
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_set_errhandler(group_.comm, MPI_ERRORS_RETURN), "MPI_Comm_split"));
  NCCL_TUNE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_rank(group_.comm, &group_.rank), "MPI_Comm_rank"));
  return MpiStatus(MPI_Comm_size(group_.comm, &group_.ranks), "MPI_Comm_size");
}

Result<Place> MpiBackend::Regroup(std::optional<std::uint64_t> group) {
  LeaveGroup();
  NCCL_TUNE_RETURN_IF_ERROR(SplitInto(group));
  worker_->SetGroup(group_);
  group_number_ = group.value_or(0);
  const bool member = group_.comm != MPI_COMM_NULL;
  return Place{.process = static_cast<std::uint64_t>(rank_),
               .processes = static_cast<std::uint64_t>(size_),
               .group = group_number_,
               .group_process = static_cast<std::uint64_t>(group_.rank),
               .group_processes = member ? static_cast<std::uint64_t>(group_.ranks) : 0,
               .ranks = member ? static_cast<std::uint64_t>(group_.ranks) : 0};
}

Result<MemoryUse> MpiBackend::memory_use() {
  const auto own = static_cast<std::int64_t>(worker_->allocated());
  std::int64_t most = own;
  NCCL_TUNE_RETURN_IF_ERROR(
      MpiStatus(MPI_Allreduce(&own, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce"));
  return MemoryUse{.user_allocated = most};
}

void MpiBackend::Late() const {
  // Mostly all are late at once: process 0 has written what was measured before another ends it.
  if (rank_ != 0) std::this_thread::sleep_for(kTimeForTheFirst);
  const std::string text = "Test timeout (" + std::to_string(setup_.options.timeout_seconds) + "s) " + __FILE__ + ":" +
                           std::to_string(__LINE__);
  if (when_late_) when_late_(HostName() + ": " + text);
  const std::string line = "\n" + HostName() + ": " + text + "\n";
  static_cast<void>(write(STDOUT_FILENO, line.data(), line.size()) == 0);
  EndAll(kTimeout);
  _exit(kTimeout);
}

Status MpiBackend::Close() {
  if (!connected_) return base::Ok();
  connected_ = false;
  LeaveGroup();
  worker_.reset();
  dog_.reset();
  return MpiStatus(MPI_Finalize(), "MPI_Finalize");
}

void MpiBackend::Abort(int code) {
  if (connected_) EndAll(code);
}

}  // namespace nccl_tune::bench
