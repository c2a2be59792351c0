// SPDX-License-Identifier: Apache-2.0
//
// How much memory a new program may use, from the text of the kernel's meminfo. Pure.
#ifndef NCCL_TUNE_BENCH_HOST_MEMORY_H_
#define NCCL_TUNE_BENCH_HOST_MEMORY_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace nccl_tune::bench {

// Bytes of the line "MemAvailable:  123 kB"; nothing when there is none.
std::optional<std::uint64_t> AvailableMemory(std::string_view meminfo);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_HOST_MEMORY_H_
