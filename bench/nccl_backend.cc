// SPDX-License-Identifier: Apache-2.0
#include "bench/nccl_backend.h"

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "base/parse_number.h"
#include "bench/host_data.h"
#include "bench/nccl_kernels.h"
#include "bench/nccl_library.h"
#include "bench/nccl_peers.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr int kCudaFailure = 2;
constexpr int kNcclFailure = 3;

ncclDataType_t NcclTypeOf(DataType type) {
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
    case DataType::kFloat:
      break;
  }
  return ncclFloat32;
}

ncclRedOp_t NcclOpOf(ReduceOp op) {
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
      break;
  }
  return ncclSum;
}

std::string HostName() {
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  name.resize(std::strlen(name.c_str()));
  return name.substr(0, name.find('.'));  // as nccl-tests: without the domain
}

// One GPU of this process and what lies on it. Freed with the process: CUDA and NCCL clean up, and a run that broke may
// not be able to.
struct Gpu {
  std::uint64_t rank = 0;
  int index = 0;
  cudaDeviceProp properties{};
  cudaStream_t stream = nullptr;
  ncclComm_t communicator = nullptr;
  void* send = nullptr;
  void* receive = nullptr;
  double* number = nullptr;  // for Sum
  DeviceVerdict* verdict = nullptr;
};

class NcclBackend : public Backend {
 public:
  explicit NcclBackend(const BackendSetup& setup) : setup_(setup) {}

  Result<Place> Connect() override {
    NCCL_TUNE_ASSIGN_OR_RETURN(library, LoadNccl(setup_.environment));
    nccl_ = library;
    NCCL_TUNE_RETURN_IF_ERROR(peers_.Connect(setup_));
    NCCL_TUNE_RETURN_IF_ERROR(FindGpus());
    NCCL_TUNE_RETURN_IF_ERROR(ConnectRanks());
    return Place{.process = peers_.process(), .processes = peers_.processes(), .ranks = Ranks()};
  }

  Identity identity() const override {
    return {.label = "nccl (GPU memory, NCCL " + VersionText(nccl_.version) + ", " + nccl_.path + ")",
            .primes = true,
            .headers_code = NCCL_VERSION_CODE,
            .library_code = nccl_.version};
  }

  std::vector<Device> LocalDevices() const override {
    std::vector<Device> devices;
    for (const Gpu& gpu : gpus_) {
      devices.push_back({.rank = gpu.rank,
                         .process_id = getpid(),
                         .host = HostName(),
                         .index = gpu.index,
                         .domain = static_cast<unsigned>(gpu.properties.pciDomainID),
                         .bus = static_cast<unsigned>(gpu.properties.pciBusID),
                         .slot = static_cast<unsigned>(gpu.properties.pciDeviceID),
                         .name = gpu.properties.name});
    }
    return devices;
  }

  Result<std::vector<std::string>> Gather(const std::string& text) override {
    return peers_.Gather("nccl-bench.text", text);
  }

  Result<std::uint64_t> Memory() override {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    const auto count = static_cast<std::uint64_t>(device_count_);
    const std::uint64_t sharing = (setup_.local_ranks * gpus_.size() + count - 1) / count;
    for (const Gpu& gpu : gpus_) least = std::min<std::uint64_t>(least, gpu.properties.totalGlobalMem / sharing);
    // The least over all processes: a maximum of the negated value.
    NCCL_TUNE_ASSIGN_OR_RETURN(negated, Reduce(-static_cast<double>(least), ncclMax));
    return static_cast<std::uint64_t>(-negated);
  }

  Status Allocate(std::uint64_t send_bytes, std::uint64_t receive_bytes) override {
    for (Gpu& gpu : gpus_) {
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaMalloc(&gpu.send, std::max<std::uint64_t>(send_bytes, 1)), "cudaMalloc"));
      NCCL_TUNE_RETURN_IF_ERROR(
          Cuda(cudaMalloc(&gpu.receive, std::max<std::uint64_t>(receive_bytes, 1)), "cudaMalloc"));
    }
    return base::Ok();
  }

  Status Fill(const Call& call, std::uint64_t seed) override {
    for (Gpu& gpu : gpus_) {
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
      if (!call.in_place) {
        const std::uint64_t bytes = call.count * BytesOf(call.type);
        NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaMemsetAsync(gpu.receive, 0, bytes, gpu.stream), "cudaMemsetAsync"));
      }
      void* const data = call.in_place ? gpu.receive : gpu.send;
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(LaunchFill(KeyOf(gpu, call, seed), call.count, data, gpu.stream), "fill"));
    }
    return Finish();
  }

  Status Run(const Call& call) override {
    if (gpus_.size() > 1) NCCL_TUNE_RETURN_IF_ERROR(Nccl(nccl_.GroupStart(), "ncclGroupStart"));
    for (Gpu& gpu : gpus_) {
      const void* const from = call.in_place ? gpu.receive : gpu.send;
      NCCL_TUNE_RETURN_IF_ERROR(Nccl(nccl_.AllReduce(from, gpu.receive, call.count, NcclTypeOf(call.type),
                                                     NcclOpOf(call.op), gpu.communicator, gpu.stream),
                                     "ncclAllReduce"));
    }
    return gpus_.size() > 1 ? Nccl(nccl_.GroupEnd(), "ncclGroupEnd") : base::Ok();
  }

  Status Finish() override {
    for (Gpu& gpu : gpus_) {
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaStreamSynchronize(gpu.stream), "cudaStreamSynchronize"));
    }
    return base::Ok();
  }

  Result<Mismatches> Check(const Call& call, std::uint64_t seed) override {
    Mismatches mismatches;
    for (Gpu& gpu : gpus_) {
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
      const DataKey key = KeyOf(gpu, call, seed);
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(LaunchCheck(key, call.count, gpu.receive, gpu.verdict, gpu.stream), "check"));
      DeviceVerdict verdict;
      NCCL_TUNE_RETURN_IF_ERROR(CopyToHost(gpu, gpu.verdict, sizeof verdict, &verdict));
      if (verdict.wrong == 0) continue;
      mismatches.count += verdict.wrong;
      std::uint64_t element = 0;  // of any type, aligned for all
      NCCL_TUNE_RETURN_IF_ERROR(CopyToHost(gpu, ElementAt(gpu, call, verdict.first), BytesOf(call.type), &element));
      mismatches.first.push_back(DescribeWrong(key, verdict.wrong, verdict.first, &element));
    }
    return mismatches;
  }

  Status Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) override {
    for (Gpu& gpu : gpus_) {
      if (gpu.rank != rank) continue;
      std::uint64_t element = 0;
      const std::uint64_t bytes = BytesOf(call.type);
      NCCL_TUNE_RETURN_IF_ERROR(CopyToHost(gpu, ElementAt(gpu, call, offset), bytes, &element));
      CorruptData(call.type, 0, &element);
      NCCL_TUNE_RETURN_IF_ERROR(
          Cuda(cudaMemcpy(ElementAt(gpu, call, offset), &element, bytes, cudaMemcpyHostToDevice), "cudaMemcpy"));
    }
    return base::Ok();
  }

  Status Barrier() override {
    const auto sum = Sum(0);
    return sum.ok() ? base::Ok() : Status(sum.error());
  }

  Result<double> Sum(double value) override { return Reduce(value, ncclSum); }

  Status Close() override {
    for (Gpu& gpu : gpus_) {
      if (gpu.communicator == nullptr) continue;
      NCCL_TUNE_RETURN_IF_ERROR(Nccl(nccl_.CommDestroy(gpu.communicator), "ncclCommDestroy"));
      gpu.communicator = nullptr;
    }
    return peers_.Close();
  }

  void Abort(int code) override { peers_.Abort(code); }

  int FailureCode() const override { return failure_; }

 private:
  std::uint64_t Ranks() const { return peers_.processes() * static_cast<std::uint64_t>(setup_.gpus); }

  Status Cuda(cudaError_t status, const std::string& call) {
    if (status == cudaSuccess) return base::Ok();
    failure_ = kCudaFailure;
    return Error{.what = "'" + std::string(cudaGetErrorString(status)) + "'", .where = call};
  }

  Status Nccl(ncclResult_t status, const std::string& call) {
    if (status == ncclSuccess) return base::Ok();
    failure_ = kNcclFailure;
    const ncclComm_t communicator = gpus_.empty() ? nullptr : gpus_[0].communicator;
    return Error{
        .what = "'" + std::string(nccl_.GetErrorString(status)) + " / " + nccl_.GetLastError(communicator) + "'",
        .where = call,
        .hint = "NCCL_DEBUG=WARN tells more."};
  }

  // The first GPU that the environment allows this process: NCCL_TESTS_DEVICE, else counted from the local rank.
  Result<std::uint64_t> FirstGpu() const {
    const auto text = base::Lookup(setup_.environment, "NCCL_TESTS_DEVICE");
    if (!text) return setup_.local_rank * static_cast<std::uint64_t>(setup_.gpus);
    auto number = base::ParseInteger<std::uint64_t>(*text);
    if (number.ok()) return number;
    Error error = number.error();
    error.where = "NCCL_TESTS_DEVICE";
    return error;
  }

  Status FindGpus() {
    NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaGetDeviceCount(&device_count_), "cudaGetDeviceCount"));
    NCCL_TUNE_ASSIGN_OR_RETURN(first, FirstGpu());
    for (int i = 0; i < setup_.gpus; ++i) {
      const auto offset = static_cast<std::uint64_t>(i);
      Gpu gpu;
      // Around when there are more ranks than GPUs: each task may see only its own, or they share one.
      gpu.index = static_cast<int>((first + offset) % static_cast<std::uint64_t>(device_count_));
      gpu.rank = peers_.process() * static_cast<std::uint64_t>(setup_.gpus) + offset;
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaGetDeviceProperties(&gpu.properties, gpu.index), "cudaGetDeviceProperties"));
      NCCL_TUNE_RETURN_IF_ERROR(
          Cuda(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking), "cudaStreamCreate"));
      NCCL_TUNE_RETURN_IF_ERROR(
          Cuda(cudaMalloc(reinterpret_cast<void**>(&gpu.number), sizeof *gpu.number), "cudaMalloc"));
      NCCL_TUNE_RETURN_IF_ERROR(
          Cuda(cudaMalloc(reinterpret_cast<void**>(&gpu.verdict), sizeof *gpu.verdict), "cudaMalloc"));
      gpus_.push_back(gpu);
    }
    return base::Ok();
  }

  Status ConnectRanks() {
    ncclUniqueId id{};
    if (peers_.process() == 0) NCCL_TUNE_RETURN_IF_ERROR(Nccl(nccl_.GetUniqueId(&id), "ncclGetUniqueId"));
    NCCL_TUNE_ASSIGN_OR_RETURN(text, peers_.Broadcast("nccl-bench.id", std::string(id.internal, sizeof id.internal)));
    if (text.size() != sizeof id.internal) {
      return Error{.what = "has " + std::to_string(text.size()) + " bytes", .where = "NCCL's id from process 0"};
    }
    text.copy(id.internal, sizeof id.internal);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    NCCL_TUNE_RETURN_IF_ERROR(Nccl(nccl_.GroupStart(), "ncclGroupStart"));
    for (Gpu& gpu : gpus_) {
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
      NCCL_TUNE_RETURN_IF_ERROR(Nccl(nccl_.CommInitRankConfig(&gpu.communicator, static_cast<int>(Ranks()), id,
                                                              static_cast<int>(gpu.rank), &config),
                                     "ncclCommInitRankConfig"));
    }
    return Nccl(nccl_.GroupEnd(), "ncclCommInitRankConfig");
  }

  DataKey KeyOf(const Gpu& gpu, const Call& call, std::uint64_t seed) const {
    return {.type = call.type, .op = call.op, .seed = seed, .ranks = Ranks(), .rank = gpu.rank};
  }

  static void* ElementAt(const Gpu& gpu, const Call& call, std::uint64_t offset) {
    return static_cast<char*>(gpu.receive) + offset * BytesOf(call.type);
  }

  Status CopyToHost(const Gpu& gpu, const void* from, std::uint64_t bytes, void* to) {
    NCCL_TUNE_RETURN_IF_ERROR(
        Cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, gpu.stream), "cudaMemcpyAsync"));
    return Cuda(cudaStreamSynchronize(gpu.stream), "cudaStreamSynchronize");
  }

  // Over all processes: a process's first GPU brings the value, its others bring what changes nothing.
  Result<double> Reduce(double value, ncclRedOp_t op) {
    const double neutral = op == ncclSum ? 0 : value;
    for (Gpu& gpu : gpus_) {
      const double own = &gpu == &gpus_[0] ? value : neutral;
      NCCL_TUNE_RETURN_IF_ERROR(Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
      NCCL_TUNE_RETURN_IF_ERROR(
          Cuda(cudaMemcpyAsync(gpu.number, &own, sizeof own, cudaMemcpyHostToDevice, gpu.stream), "cudaMemcpyAsync"));
    }
    NCCL_TUNE_RETURN_IF_ERROR(Nccl(nccl_.GroupStart(), "ncclGroupStart"));
    for (Gpu& gpu : gpus_) {
      NCCL_TUNE_RETURN_IF_ERROR(Nccl(
          nccl_.AllReduce(gpu.number, gpu.number, 1, ncclFloat64, op, gpu.communicator, gpu.stream), "ncclAllReduce"));
    }
    NCCL_TUNE_RETURN_IF_ERROR(Nccl(nccl_.GroupEnd(), "ncclGroupEnd"));
    NCCL_TUNE_RETURN_IF_ERROR(Finish());
    double result = 0;
    NCCL_TUNE_RETURN_IF_ERROR(CopyToHost(gpus_[0], gpus_[0].number, sizeof result, &result));
    return result;
  }

  BackendSetup setup_;
  NcclLibrary nccl_{};
  NcclPeers peers_{};
  std::vector<Gpu> gpus_{};
  int device_count_ = 1;
  int failure_ = 1;
};

}  // namespace

std::unique_ptr<Backend> MakeNcclBackend(const BackendSetup& setup) { return std::make_unique<NcclBackend>(setup); }

}  // namespace nccl_tune::bench
