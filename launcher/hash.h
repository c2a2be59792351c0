// SPDX-License-Identifier: Apache-2.0
//
// FNV-1a: the same number for the same text on every node and in every release. Not against attackers.
#ifndef NCCL_TUNE_LAUNCHER_HASH_H_
#define NCCL_TUNE_LAUNCHER_HASH_H_

#include <cstdint>
#include <string_view>

namespace nccl_tune::launcher {

constexpr std::uint64_t HashText(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char one : text) {
    hash ^= static_cast<unsigned char>(one);
    hash *= 0x100000001b3U;
  }
  return hash;
}

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_HASH_H_
