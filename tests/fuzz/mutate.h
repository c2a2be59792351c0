// SPDX-License-Identifier: Apache-2.0
//
// Changes a text as libFuzzer does, without its guidance: for the short run that every build can make.
#ifndef NCCL_TUNE_TESTS_FUZZ_MUTATE_H_
#define NCCL_TUNE_TESTS_FUZZ_MUTATE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nccl_tune::fuzz {

inline constexpr std::size_t kMutationLimit = 64 << 10;  // bytes of a changed text, unless it was longer before

// Change number `number` of the texts: the same one for the same texts and number, everywhere. Never empty `texts`.
std::string Mutation(const std::vector<std::string>& texts, std::uint32_t number);

}  // namespace nccl_tune::fuzz

#endif  // NCCL_TUNE_TESTS_FUZZ_MUTATE_H_
