// SPDX-License-Identifier: Apache-2.0
//
// The word that a misspelt one was meant to be.
#ifndef NCCL_TUNE_BASE_NEAREST_H_
#define NCCL_TUNE_BASE_NEAREST_H_

#include <span>
#include <string_view>

namespace nccl_tune::base {

// The first of the `words` that the fewest insertions, deletions, replacements and swaps of neighbours turn `word`
// into; "" when that takes more than a third of its length (at least 1), or when `word` is longer than 64 bytes.
std::string_view Nearest(std::string_view word, std::span<const std::string_view> words);

}  // namespace nccl_tune::base

#endif  // NCCL_TUNE_BASE_NEAREST_H_
