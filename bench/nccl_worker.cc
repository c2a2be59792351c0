// SPDX-License-Identifier: Apache-2.0
#include "bench/nccl_worker.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define NCCL_TUNE_HAS_NVTX 1
#else
#define NCCL_TUNE_HAS_NVTX 0
#endif

#include <algorithm>

#include "bench/nccl_calls.h"

namespace nccl_tune::bench {
namespace {

using base::Result;
using base::Status;

double CombineTwo(Combine how, double a, double b) {
  switch (how) {
    case Combine::kMin:
      return std::min(a, b);
    case Combine::kMax:
      return std::max(a, b);
    case Combine::kSum:
      break;
  }
  return a + b;
}

}  // namespace

char* NcclWorker::SendOf(const Gpu& gpu, const Call& call) const {
  const std::uint64_t bytes = BytesOf(call.type);
  if (!call.in_place) return Begin(gpu.send, bytes);
  return Begin(gpu.receive, bytes) + gpu.rank * call.shape.send_stride * bytes;
}

char* NcclWorker::ResultOf(const Gpu& gpu, const Call& call) const {
  const std::uint64_t bytes = BytesOf(call.type);
  return Begin(gpu.receive, bytes) + (call.in_place ? gpu.rank * call.shape.receive_stride * bytes : 0);
}

DataKey NcclWorker::KeyOf(const Gpu& gpu, const Call& call, std::uint64_t seed) const {
  return {.type = call.type,
          .op = call.op,
          .seed = seed,
          .ranks = shared_.ranks,
          .rank = gpu.rank,
          .reduces = call.collective->reduces};
}

Seat NcclWorker::SeatOf(const Gpu& gpu, const Call& call) const {
  return {.rank = gpu.rank,
          .ranks = shared_.ranks,
          .root = call.root,
          .type_bytes = BytesOf(call.type),
          .in_place = call.in_place,
          .traffic = call.traffic};
}

Status NcclWorker::Fill(const Call& call, std::uint64_t seed) {
  const std::uint64_t bytes = BytesOf(call.type);
  const std::uint64_t whole = std::max(call.shape.send_count, call.shape.receive_count) * bytes;
  for (Gpu& gpu : gpus_) {
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
    NCCL_TUNE_RETURN_IF_ERROR(
        shared_.nccl.Cuda(cudaMemsetAsync(Begin(gpu.receive, bytes), 0, whole, gpu.stream), "cudaMemsetAsync"));
    const std::uint64_t count = call.collective->sends(call.shape, SeatOf(gpu, call));
    if (count == 0) continue;
    NCCL_TUNE_RETURN_IF_ERROR(
        shared_.nccl.Cuda(LaunchFill(KeyOf(gpu, call, seed), count, SendOf(gpu, call), gpu.stream), "fill"));
  }
  return Finish();
}

Status NcclWorker::StartOn(Gpu& gpu, const Call& call, std::uint64_t shift) {
  if (shared_.options->device_implementation == 0) {
    return StartCall(shared_.nccl, {.call = &call,
                                    .gpu = &gpu,
                                    .ranks = shared_.ranks,
                                    .send = SendOf(gpu, call) + shift,
                                    .receive = ResultOf(gpu, call) + shift});
  }
  NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
  char* const from = call.in_place ? gpu.receive : gpu.send;
  const DeviceCall device_call{.kind = call.collective->kind,
                               .implementation = shared_.options->device_implementation,
                               .blocks = shared_.options->device_ctas,
                               .type = call.type,
                               .count = call.shape.count,
                               .send_window = call.in_place ? gpu.receive_handle : gpu.send_handle,
                               .send_offset = static_cast<std::uint64_t>(SendOf(gpu, call) - from) + shift,
                               .receive_window = gpu.receive_handle,
                               .receive_offset = static_cast<std::uint64_t>(ResultOf(gpu, call) - gpu.receive) + shift};
  return shared_.nccl.Cuda(LaunchDeviceCall(*gpu.device, device_call, gpu.stream), "a kernel of -D");
}

Status NcclWorker::Start(const Call& call, std::uint64_t iteration) {
  const std::uint64_t whole = std::max(call.shape.send_count, call.shape.receive_count) * BytesOf(call.type);
  const std::uint64_t steps = whole > 0 ? shared_.buffer_bytes / whole : 1;
  const std::uint64_t shift = whole * (iteration % std::max<std::uint64_t>(steps, 1));
  if (gpus_.size() == 1) return StartOn(gpus_[0], call, shift);
  NCCL_TUNE_RETURN_IF_ERROR(BeginGroup());
  for (Gpu& gpu : gpus_) NCCL_TUNE_RETURN_IF_ERROR(StartOn(gpu, call, shift));
  return EndGroup();
}

Result<Mismatches> NcclWorker::Check(const Call& call, std::uint64_t seed) {
  Mismatches mismatches;
  const std::uint64_t bytes = BytesOf(call.type);
  for (Gpu& gpu : gpus_) {
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
    const DataKey key = KeyOf(gpu, call, seed);
    const std::vector<Stretch> expected = call.collective->expects(call.shape, SeatOf(gpu, call));
    char* const result = ResultOf(gpu, call);
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(LaunchCheck(key, expected, result, gpu.verdict, gpu.stream), "check"));
    DeviceVerdict verdict;
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(
        cudaMemcpyAsync(&verdict, gpu.verdict, sizeof verdict, cudaMemcpyDeviceToHost, gpu.stream), "cudaMemcpyAsync"));
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaStreamSynchronize(gpu.stream), "cudaStreamSynchronize"));
    if (verdict.wrong == 0) continue;
    mismatches.count += verdict.wrong;
    std::uint64_t element = 0;  // of any type, aligned for all
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(
        cudaMemcpy(&element, result + verdict.first * bytes, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy"));
    mismatches.first.push_back(DescribeWrong(key, expected, verdict.wrong, verdict.first, &element));
  }
  return mismatches;
}

Status NcclWorker::Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) {
  const std::uint64_t bytes = BytesOf(call.type);
  for (Gpu& gpu : gpus_) {
    if (gpu.rank != rank) continue;
    std::uint64_t element = 0;
    char* const at = ResultOf(gpu, call) + offset * bytes;
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaMemcpy(&element, at, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy"));
    CorruptData(call.type, 0, &element);
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaMemcpy(at, &element, bytes, cudaMemcpyHostToDevice), "cudaMemcpy"));
  }
  return base::Ok();
}

Status NcclWorker::BeginGroup() { return shared_.nccl.Nccl(shared_.nccl.library.GroupStart(), "ncclGroupStart"); }

Status NcclWorker::EndGroup() { return shared_.nccl.Nccl(shared_.nccl.library.GroupEnd(), "ncclGroupEnd"); }

Status NcclWorker::ReserveMarks(std::size_t count) {
  for (Gpu& gpu : gpus_) {
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
    while (gpu.marks.size() < count) {
      cudaEvent_t event = nullptr;
      NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaEventCreate(&event), "cudaEventCreate"));
      gpu.marks.push_back(event);
    }
  }
  return base::Ok();
}

Status NcclWorker::Mark(std::size_t index) {
  for (Gpu& gpu : gpus_) {
    if (gpus_.size() > 1) NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaEventRecord(gpu.marks[index], gpu.stream), "cudaEventRecord"));
  }
  return base::Ok();
}

Result<std::vector<double>> NcclWorker::Between(const std::vector<std::pair<std::size_t, std::size_t>>& marks) {
  std::vector<double> seconds;
  for (const auto& [first, second] : marks) {
    double longest = 0;
    for (Gpu& gpu : gpus_) {
      float milliseconds = 0;
      NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(
          cudaEventElapsedTime(&milliseconds, gpu.marks[first], gpu.marks[second]), "cudaEventElapsedTime"));
      longest = std::max(longest, static_cast<double>(milliseconds) * 1e-3);
    }
    seconds.push_back(longest);
  }
  return seconds;
}

// Only this thread's calls are recorded: NCCL allocates in others meanwhile.
Status NcclWorker::BeginCapture() {
  for (Gpu& gpu : gpus_) {
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal),
                                                "cudaStreamBeginCapture"));
  }
  return base::Ok();
}

Status NcclWorker::EndCapture() {
  for (Gpu& gpu : gpus_) {
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaStreamEndCapture(gpu.stream, &gpu.graph), "cudaStreamEndCapture"));
    NCCL_TUNE_RETURN_IF_ERROR(
        shared_.nccl.Cuda(cudaGraphInstantiate(&gpu.graph_instance, gpu.graph, 0), "cudaGraphInstantiate"));
  }
  return base::Ok();
}

Status NcclWorker::Replay() {
  for (Gpu& gpu : gpus_) {
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaGraphLaunch(gpu.graph_instance, gpu.stream), "cudaGraphLaunch"));
  }
  return base::Ok();
}

Status NcclWorker::DropCapture() {
  for (Gpu& gpu : gpus_) {
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaGraphExecDestroy(gpu.graph_instance), "cudaGraphExecDestroy"));
    NCCL_TUNE_RETURN_IF_ERROR(shared_.nccl.Cuda(cudaGraphDestroy(gpu.graph), "cudaGraphDestroy"));
    gpu.graph_instance = nullptr;
    gpu.graph = nullptr;
  }
  return base::Ok();
}

void NcclWorker::BeginRange(const std::string& name) {
#if NCCL_TUNE_HAS_NVTX
  nvtxRangePushA(name.c_str());
#else
  static_cast<void>(name);
#endif
}

void NcclWorker::EndRange() {
#if NCCL_TUNE_HAS_NVTX
  nvtxRangePop();
#endif
}

Status NcclWorker::Barrier() {
  const auto sum = Reduce(0, Combine::kSum);
  return sum.ok() ? base::Ok() : Status(sum.error());
}

Result<double> NcclWorker::Reduce(double value, Combine how) {
  const auto combine = [how](double a, double b) { return CombineTwo(how, a, b); };
  NCCL_TUNE_ASSIGN_OR_RETURN(all, shared_.team->Meet({value}, combine, [&](const std::vector<double>& values) {
    return shared_.Reduce(values, how);
  }));
  return all[0];
}

Result<std::vector<std::vector<double>>> NcclWorker::GatherGreatest(const std::vector<double>& values) {
  const auto combine = [](double a, double b) { return std::max(a, b); };
  NCCL_TUNE_ASSIGN_OR_RETURN(all, shared_.team->Meet(values, combine, [&](const std::vector<double>& combined) {
    return shared_.AllGather(combined);
  }));
  std::vector<std::vector<double>> processes;
  const bool first = gpus_.data() == shared_.gpus.data();
  if (shared_.process != 0 || !first || values.empty()) return processes;
  for (auto from = all.begin(); from != all.end(); from += static_cast<std::ptrdiff_t>(values.size())) {
    processes.emplace_back(from, from + static_cast<std::ptrdiff_t>(values.size()));
  }
  return processes;
}

}  // namespace nccl_tune::bench
