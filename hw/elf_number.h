// SPDX-License-Identifier: Apache-2.0
//
// A number that a shared library exports, without loading the library: the release that a Slurm plugin was built for.
#ifndef NCCL_TUNE_HW_ELF_NUMBER_H_
#define NCCL_TUNE_HW_ELF_NUMBER_H_

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::hw {

// The four bytes at the dynamic symbol `name` of `bytes`, a whole file: ELF for 64 bits, little-endian. kInvalidInput
// for anything else, kNotFound when it has no such symbol. `bytes` may hold anything.
base::Result<std::uint32_t> ReadElfNumber(std::string_view bytes, std::string_view name);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_ELF_NUMBER_H_
