// SPDX-License-Identifier: Apache-2.0
//
// Asks NVML for the state of the GPUs in a process of its own, so that a library that hangs or crashes costs the doubts
// about GPUs and nothing else. That process is forked before anything connects: later a fork would copy pages that a
// NIC writes to.
#ifndef NCCL_TUNE_BENCH_GPU_WATCH_H_
#define NCCL_TUNE_BENCH_GPU_WATCH_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/doubts.h"
#include "bench/nvml_gpus.h"

namespace nccl_tune::bench {

class GpuWatch {
 public:
  // Call it while the process has one thread. `library` is loaded by the child and at its own pace.
  static base::Result<std::unique_ptr<GpuWatch>> Start(const std::string& library = kNvmlLibrary);

  // The GPUs as they are now, in NVML's order. Fails when there is no NVML, and when no answer has come in time or the
  // child has died: then it fails at once ever after.
  base::Result<std::vector<GpuState>> Read(std::chrono::milliseconds patience);

  // Ends the child. One that the kernel does not let die is left behind.
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

 private:
  GpuWatch(pid_t child, int socket) : child_(child), socket_(socket) {}
  base::Error GiveUp(base::Code code, std::string what);

  pid_t child_;
  int socket_;  // -1: given up
};

// What the child says, one line of JSON; for the tests.
std::string WriteGpus(const base::Result<std::vector<GpuState>>& gpus);
base::Result<std::vector<GpuState>> ParseGpus(std::string_view text);

// Of `gpus` those at one of the places of `devices`; all where that is empty.
std::vector<GpuState> OnlyThose(const std::vector<GpuState>& gpus, const std::vector<Device>& devices);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_GPU_WATCH_H_
