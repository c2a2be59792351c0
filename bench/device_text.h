// SPDX-License-Identifier: Apache-2.0
//
// What a process tells process 0 about its devices, one line each, and back. Pure.
#ifndef NCCL_TUNE_BENCH_DEVICE_TEXT_H_
#define NCCL_TUNE_BENCH_DEVICE_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/results.h"

namespace nccl_tune::bench {

// Control characters in host and name become blanks.
std::string DevicesToText(const std::vector<Device>& devices);

// Fails on any line that DevicesToText cannot have made; the Error shows it.
base::Result<std::vector<Device>> DevicesFromText(std::string_view text);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_DEVICE_TEXT_H_
