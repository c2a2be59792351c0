// SPDX-License-Identifier: Apache-2.0
#include "bench/nccl_backend.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/parse_number.h"
#include "bench/host_name.h"
#include "bench/nccl_gpu.h"
#include "bench/nccl_library.h"
#include "bench/nccl_process.h"
#include "bench/nccl_worker.h"
#include "bench/split.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr int kNotImplemented = 5;
constexpr int kInvalidUse = 6;

// The least free memory of each GPU so far, for -M.
std::vector<std::int64_t> FreeMemory(const std::vector<Gpu>& gpus) {
  std::vector<std::int64_t> free_bytes;
  for (const Gpu& gpu : gpus) {
    std::size_t free_now = 0;
    std::size_t total = 0;
    if (cudaSetDevice(gpu.index) != cudaSuccess || cudaMemGetInfo(&free_now, &total) != cudaSuccess) free_now = 0;
    free_bytes.push_back(static_cast<std::int64_t>(free_now));
  }
  return free_bytes;
}

std::int64_t MostUsed(const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < before.size(); ++i) most = std::max(most, before[i] - after[i]);
  return most;
}

class NcclBackend : public Backend {
 public:
  explicit NcclBackend(const BackendSetup& setup) : process_(setup), team_(process_.Threads()) {}

  Result<Place> Connect() override {
    // First: what goes wrong later, perhaps on this node alone, ends the others too.
    NCCL_TUNE_RETURN_IF_ERROR(process_.peers.Connect(process_.setup));
    NCCL_TUNE_ASSIGN_OR_RETURN(library, LoadNccl(process_.setup.environment));
    process_.shared.nccl.library = library;
    NCCL_TUNE_RETURN_IF_ERROR(CheckDevice());
    process_.place.process = process_.peers.process();
    process_.place.processes = process_.peers.processes();
    SetGroup(process_,
             process_.setup.options.split ? GroupOf(*process_.setup.options.split, process_.place.process) : 0);
    NCCL_TUNE_RETURN_IF_ERROR(FindGpus());
    return process_.place;
  }

  Identity identity() const override {
    const NcclLibrary& nccl = process_.shared.nccl.library;
    Identity identity{
        .label = "nccl (GPU memory, NCCL " + VersionText(nccl.version) + ", " + nccl.path + ", " + nccl.how + ")",
        .primes = true,
        .headers_code = NCCL_VERSION_CODE,
        .library_code = nccl.version};
    for (const TypeName& one : kTypes) {
      if (HasType(one.type)) identity.types.push_back(one.type);
    }
    for (const OpName& one : kOps) identity.ops.push_back(one.op);
    // On one rank NCCL 2.28 refuses what it does on several: "invalid argument".
    for (const DataType type : {DataType::kF8e4m3, DataType::kF8e5m2}) {
      for (const ReduceOp op : {ReduceOp::kAvg, ReduceOp::kMulsum}) {
        if (process_.place.ranks == 1) identity.lacking.emplace_back(type, op);
      }
    }
    if (process_.setup.options.device_implementation != 0) identity.ops = {ReduceOp::kSum};
    identity.left_aside = left_aside_;
    return identity;
  }

  std::vector<Device> LocalDevices() const override {
    std::vector<Device> devices;
    for (const Gpu& gpu : process_.gpus) {
      devices.push_back({.rank = gpu.world_rank,
                         .group = process_.place.group,
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
    return process_.peers.Gather("nccl-bench.text", text);
  }

  Result<std::string> Broadcast(const std::string& text) override {
    return process_.peers.Broadcast("nccl-bench.broadcast", text);
  }

  // Before the ranks are connected, over PMIx.
  Result<std::uint64_t> Memory() override {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    const auto count = static_cast<std::uint64_t>(device_count_);
    const std::uint64_t sharing = (process_.setup.local_ranks * process_.gpus.size() + count - 1) / count;
    for (const Gpu& gpu : process_.gpus)
      least = std::min<std::uint64_t>(least, gpu.properties.totalGlobalMem / sharing);
    NCCL_TUNE_ASSIGN_OR_RETURN(all, process_.peers.Gather("nccl-bench.memory", std::to_string(least)));
    for (const std::string& text : all) {
      const auto other = base::ParseInteger<std::uint64_t>(text);
      if (!other.ok()) return Error{.what = "not a number", .where = "the memory of a process", .seen = text};
      least = std::min(least, *other);
    }
    NCCL_TUNE_ASSIGN_OR_RETURN(shared, process_.peers.Broadcast("nccl-bench.least", std::to_string(least)));
    return base::ParseInteger<std::uint64_t>(shared);
  }

  Status Join(std::uint64_t bytes) override {
    process_.shared.options = &process_.setup.options;
    process_.shared.gpus = process_.gpus;
    process_.shared.ranks = process_.place.ranks;
    process_.shared.processes = process_.place.processes;
    process_.shared.process = process_.place.process;
    process_.shared.buffer_bytes = bytes;
    process_.shared.team = &team_;
    const auto before = FreeMemory(process_.gpus);
    NCCL_TUNE_RETURN_IF_ERROR(ConnectRanks(process_));
    const auto connected = FreeMemory(process_.gpus);
    NCCL_TUNE_RETURN_IF_ERROR(AllocateBuffers(process_, bytes));
    NCCL_TUNE_RETURN_IF_ERROR(RegisterBuffers(process_, bytes));
    free_after_join_ = FreeMemory(process_.gpus);
    NCCL_TUNE_RETURN_IF_ERROR(MakeDeviceCommunicators());
    const auto ready = FreeMemory(process_.gpus);
    use_.initialization = MostUsed(before, connected) + MostUsed(free_after_join_, ready);
    use_.user_allocated = MostUsed(connected, free_after_join_);
    free_after_join_ = ready;
    const auto each = static_cast<std::size_t>(process_.setup.options.gpus);
    for (std::size_t i = 0; i < process_.Threads(); ++i) {
      workers_.push_back(
          std::make_unique<NcclWorker>(process_.shared, std::span(process_.gpus).subspan(i * each, each)));
    }
    return base::Ok();
  }

  Worker& worker(std::size_t thread) override { return *workers_[thread]; }

  Result<Place> Regroup(std::optional<std::uint64_t> group) override {
    NCCL_TUNE_RETURN_IF_ERROR(RegroupRanks(process_, group));
    return process_.place;
  }

  Result<double> Sum(double value) override {
    NCCL_TUNE_ASSIGN_OR_RETURN(sum, process_.shared.Reduce({value}, Combine::kSum));
    return sum[0];
  }

  Result<MemoryUse> memory_use() override {
    use_.collective = MostUsed(free_after_join_, FreeMemory(process_.gpus));
    const std::vector<double> own = {static_cast<double>(use_.initialization), static_cast<double>(use_.user_allocated),
                                     static_cast<double>(use_.collective)};
    NCCL_TUNE_ASSIGN_OR_RETURN(most, process_.shared.Reduce(own, Combine::kMax));
    return MemoryUse{.initialization = static_cast<std::int64_t>(most[0]),
                     .user_allocated = static_cast<std::int64_t>(most[1]),
                     .collective = static_cast<std::int64_t>(most[2])};
  }

  std::string LastError() const override {
    const char* const text = process_.shared.nccl.library.GetLastError(nullptr);
    return text != nullptr ? text : "";
  }

  Status Close() override {
    NCCL_TUNE_RETURN_IF_ERROR(ReleaseAll(process_));
    return process_.peers.Close();
  }

  void Abort(int code) override {
    team_.Break();
    process_.peers.Abort(code);
  }

  int FailureCode() const override { return process_.shared.nccl.failure; }

 private:
  // -D, -R and -x against the library in use.
  Status CheckDevice() {
    const NcclLibrary& nccl = process_.shared.nccl.library;
    const std::string version = "this is NCCL " + VersionText(nccl.version);
    Options& options = process_.setup.options;
    if (options.registration != Registration::kNone && nccl.CommRegister == nullptr) {
      left_aside_.push_back("-R needs NCCL 2.19 (" + version + "): buffers are not registered");
      options.registration = Registration::kNone;
    }
    if (options.registration == Registration::kSymmetric && nccl.CommWindowRegister == nullptr) {
      left_aside_.push_back("-R 2 needs NCCL 2.27 (" + version + "): buffers are registered as with -R 1");
      options.registration = Registration::kLocal;
    }
    if (options.cta_policy && nccl.version < Version(2, *options.cta_policy > 1 ? 28 : 27)) {
      left_aside_.push_back("-x " + std::to_string(*options.cta_policy) + " needs NCCL 2." +
                            (*options.cta_policy > 1 ? "28" : "27") + " (" + version + "): left aside");
      options.cta_policy.reset();
    }
    if (options.device_implementation == 0) return base::Ok();
    const Status possible = CheckDeviceCalls(nccl, options.collective->kind, options.device_implementation);
    if (!possible.ok()) {
      process_.shared.nccl.failure = possible.error().code == Code::kInvalidInput ? kInvalidUse : kNotImplemented;
      return possible;
    }
    for (const DataType type : options.types) {
      if (options.all_types || HasDeviceType(type)) continue;
      process_.shared.nccl.failure = kNotImplemented;
      return Error{.code = Code::kUnsupported,
                   .what = "the kernels of -D know the types of C++ and half only",
                   .where = "-d",
                   .seen = std::string(NameOf(type))};
    }
    return base::Ok();
  }

  bool HasType(DataType type) const {
    if (process_.setup.options.device_implementation != 0) return HasDeviceType(type);
    if (type != DataType::kF8e4m3 && type != DataType::kF8e5m2) return true;
    if (process_.shared.nccl.library.version < Version(2, 24)) return false;
    return std::ranges::all_of(process_.gpus, [](const Gpu& gpu) { return gpu.properties.major >= 9; });
  }

  // The first GPU that the environment allows this process: NCCL_TESTS_DEVICE, else counted from the local rank.
  std::uint64_t FirstGpu() const {
    const std::optional<int> wanted = process_.setup.options.first_gpu;
    if (wanted) return static_cast<std::uint64_t>(*wanted);
    return process_.setup.local_rank * process_.GpuCount();
  }

  Status FindGpus() {
    NcclState& nccl = process_.shared.nccl;
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(cudaGetDeviceCount(&device_count_), "cudaGetDeviceCount"));
    const std::uint64_t first = FirstGpu();
    for (std::uint64_t i = 0; i < process_.GpuCount(); ++i) {
      Gpu gpu;
      // Around when there are more ranks than GPUs: each task may see only its own, or they share one.
      gpu.index = static_cast<int>((first + i) % static_cast<std::uint64_t>(device_count_));
      gpu.world_rank = process_.place.process * process_.GpuCount() + i;
      gpu.rank = process_.place.group_process * process_.GpuCount() + i;
      NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
      NCCL_TUNE_RETURN_IF_ERROR(
          nccl.Cuda(cudaGetDeviceProperties(&gpu.properties, gpu.index), "cudaGetDeviceProperties"));
      if (!process_.setup.options.null_stream) {
        NCCL_TUNE_RETURN_IF_ERROR(
            nccl.Cuda(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking), "cudaStreamCreate"));
      }
      void* memory = nullptr;
      NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(cudaMalloc(&memory, sizeof(DeviceVerdict)), "cudaMalloc"));
      gpu.verdict = static_cast<DeviceVerdict*>(memory);
      process_.gpus.push_back(gpu);
    }
    return base::Ok();
  }

  Status MakeDeviceCommunicators() {
    const Options& options = process_.setup.options;
    if (options.device_implementation == 0) return base::Ok();
    NcclState& nccl = process_.shared.nccl;
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.GroupStart(), "ncclGroupStart"));
    for (Gpu& gpu : process_.gpus) {
      NCCL_TUNE_RETURN_IF_ERROR(
          nccl.Nccl(MakeDeviceCommunicator(nccl.library, gpu.communicator, options.collective->kind,
                                           options.device_implementation, options.device_ctas, &gpu.device),
                    "ncclDevCommCreate"));
    }
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.GroupEnd(), "ncclDevCommCreate"));
    for (const Gpu& gpu : process_.gpus) {
      if (ReachesAll(*gpu.device)) continue;
      nccl.failure = kInvalidUse;
      return Error{.code = Code::kInvalidInput,
                   .what = "the kernels need every rank to reach every other's memory, over NVLink or PCIe",
                   .where = "-D"};
    }
    return base::Ok();
  }

  NcclProcess process_;
  ThreadTeam team_;
  std::vector<std::unique_ptr<NcclWorker>> workers_{};
  std::vector<std::string> left_aside_{};
  std::vector<std::int64_t> free_after_join_{};
  MemoryUse use_{};
  int device_count_ = 1;
};

}  // namespace

std::unique_ptr<Backend> MakeNcclBackend(const BackendSetup& setup) { return std::make_unique<NcclBackend>(setup); }

}  // namespace nccl_tune::bench
