// SPDX-License-Identifier: Apache-2.0
#include "bench/nvml_gpus.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

// NVML's functions have types of its own for the structures that are declared here.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("function"))), apply_to = function)
#endif

namespace nccl_tune::bench {

// Layouts and numbers are those of nvml.h, CUDA 11 and later.
struct NvmlGpus::PciInfo {
  std::array<char, 16> short_name;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  std::array<char, 32> name;
};
struct NvmlGpus::Process {
  unsigned process;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};
struct NvmlGpus::Violation {
  unsigned long long reference;  // microseconds
  unsigned long long held;       // nanoseconds
};

namespace {

constexpr int kSuccess = 0;
constexpr int kSmClock = 1;
constexpr int kPowerPolicy = 0;
constexpr int kThermalPolicy = 1;
constexpr unsigned kMostGpus = 64;
constexpr unsigned kMostProcesses = 256;

template <typename Function>
bool Look(void* library, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(dlsym(library, name));
  return *out != nullptr;
}

base::Error Lacks(const std::string& library, std::string what, std::string seen = "") {
  return {.code = base::Code::kUnsupported, .what = std::move(what), .where = library, .seen = std::move(seen)};
}

}  // namespace

base::Result<NvmlGpus> NvmlGpus::Open(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return base::Error{.code = base::Code::kNotFound, .what = why != nullptr ? why : "cannot be loaded"};
  }
  NvmlGpus out;
  int (*start)() = nullptr;
  const bool is_whole = Look(handle, "nvmlInit_v2", &start) && Look(handle, "nvmlDeviceGetCount_v2", &out.get_count_) &&
                        Look(handle, "nvmlDeviceGetHandleByIndex_v2", &out.get_handle_) &&
                        Look(handle, "nvmlDeviceGetPciInfo_v3", &out.get_pci_);
  if (!is_whole) return Lacks(library, "lacks functions of NVML 11");
  // The first version has another layout.
  if (!Look(handle, "nvmlDeviceGetComputeRunningProcesses_v3", &out.get_processes_)) {
    Look(handle, "nvmlDeviceGetComputeRunningProcesses_v2", &out.get_processes_);
  }
  Look(handle, "nvmlDeviceGetClockInfo", &out.get_clock_);
  Look(handle, "nvmlDeviceGetMaxClockInfo", &out.get_max_clock_);
  Look(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", &out.get_reasons_);
  Look(handle, "nvmlDeviceGetViolationStatus", &out.get_violation_);
  const int code = start();
  if (code != kSuccess) return Lacks(library, "nvmlInit failed", "code " + std::to_string(code));
  return out;
}

bool NvmlGpus::ReadPci(Handle gpu, GpuState* out) const {
  PciInfo pci{};
  if (get_pci_(gpu, &pci) != kSuccess || pci.bus > 0xff || pci.device > 0x1f) return false;
  out->pci = {.domain = pci.domain,
              .bus = static_cast<std::uint8_t>(pci.bus),
              .device = static_cast<std::uint8_t>(pci.device),
              .function = 0};
  return true;
}

void NvmlGpus::ReadProcesses(Handle gpu, GpuState* out) const {
  if (get_processes_ == nullptr) return;
  std::vector<Process> processes(kMostProcesses);
  unsigned count = kMostProcesses;
  if (get_processes_(gpu, &count, processes.data()) != kSuccess) return;
  processes.resize(std::min(count, kMostProcesses));
  for (const auto& process : processes) out->processes.push_back(process.process);
}

void NvmlGpus::ReadClocks(Handle gpu, GpuState* out) const {
  unsigned clock = 0;
  if (get_clock_ != nullptr && get_clock_(gpu, kSmClock, &clock) == kSuccess) out->clock = clock;
  if (get_max_clock_ != nullptr && get_max_clock_(gpu, kSmClock, &clock) == kSuccess) out->highest_clock = clock;
  unsigned long long reasons = 0;
  if (get_reasons_ != nullptr && get_reasons_(gpu, &reasons) == kSuccess) out->throttle_reasons = reasons;
  Violation violation{};
  if (get_violation_ == nullptr) return;
  if (get_violation_(gpu, kPowerPolicy, &violation) == kSuccess) out->power_held = violation.held;
  if (get_violation_(gpu, kThermalPolicy, &violation) == kSuccess) out->thermal_held = violation.held;
}

base::Result<std::vector<GpuState>> NvmlGpus::Read() const {
  unsigned count = 0;
  const int code = get_count_(&count);
  if (code != kSuccess) return Lacks("nvmlDeviceGetCount", "failed", "code " + std::to_string(code));
  std::vector<GpuState> out;
  for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
    Handle gpu = nullptr;
    GpuState state;
    if (get_handle_(i, &gpu) != kSuccess || !ReadPci(gpu, &state)) continue;  // another job's
    ReadProcesses(gpu, &state);
    ReadClocks(gpu, &state);
    out.push_back(std::move(state));
  }
  return out;
}

}  // namespace nccl_tune::bench

#if defined(__clang__)
#pragma clang attribute pop
#endif
