// SPDX-License-Identifier: Apache-2.0
//
// Which variables a site's policy or a user's option may fix, and to which values: NCCL's, known to us or not, and the
// known ones of the libraries beside it. So a fixed value can neither reach PATH or LD_PRELOAD nor break a line.
#ifndef NCCL_TUNE_CORE_NCCL_SETTABLE_H_
#define NCCL_TUNE_CORE_NCCL_SETTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::nccl {

inline constexpr std::size_t kLongestName = 64;
inline constexpr std::size_t kLongestValue = 1023;  // NCCL cuts longer ones of a conf file

// Whether a variable is our own, NCCL_TUNE or NCCL_TUNE_...; NCCL_TUNER_... is NCCL's.
bool IsOurOwn(std::string_view name);

// Whether NCCL is known to read a variable of this name: those of our table, and NCCL_DEBUG with its sisters.
bool IsKnownName(std::string_view name);

// kInvalidInput, without `where`. Our own are refused.
base::Status CheckSettableName(std::string_view name);

// The value of a settable name: ASCII, and as CheckValue where the variable is known; of others no control
// character, not empty.
base::Status CheckSettableValue(std::string_view name, std::string_view value);

// "Did you mean NAME?" with a known name near to this one; empty: none is.
std::string DidYouMean(std::string_view name);

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_SETTABLE_H_
