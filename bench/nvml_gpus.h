// SPDX-License-Identifier: Apache-2.0
//
// The state of the GPUs from NVML, loaded at run time: nothing links it, and a machine without it has no GPU doubts.
// An odd library may crash or hang its caller: gpu_watch.h calls this in a process of its own.
#ifndef NCCL_TUNE_BENCH_NVML_GPUS_H_
#define NCCL_TUNE_BENCH_NVML_GPUS_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "bench/doubts.h"

namespace nccl_tune::bench {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

class NvmlGpus {
 public:
  // Loads the library (a name or a path) and starts it. Fails with what is missing or NVML's own code.
  static base::Result<NvmlGpus> Open(const std::string& library);

  // All GPUs that this process may look at. Of one that does not answer a question the fact is absent.
  base::Result<std::vector<GpuState>> Read() const;

 private:
  using Handle = void*;
  struct PciInfo;
  struct Process;
  struct Violation;

  NvmlGpus() = default;
  bool ReadPci(Handle gpu, GpuState* out) const;
  void ReadProcesses(Handle gpu, GpuState* out) const;
  void ReadClocks(Handle gpu, GpuState* out) const;

  // Never closed: an unloaded NVML is as odd as a loaded one, and the process ends soon.
  int (*get_count_)(unsigned*) = nullptr;
  int (*get_handle_)(unsigned, Handle*) = nullptr;
  int (*get_pci_)(Handle, PciInfo*) = nullptr;
  int (*get_processes_)(Handle, unsigned*, Process*) = nullptr;  // may be absent, as those below
  int (*get_clock_)(Handle, int, unsigned*) = nullptr;
  int (*get_max_clock_)(Handle, int, unsigned*) = nullptr;
  int (*get_reasons_)(Handle, unsigned long long*) = nullptr;
  int (*get_violation_)(Handle, int, Violation*) = nullptr;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NVML_GPUS_H_
