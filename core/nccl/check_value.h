// SPDX-License-Identifier: Apache-2.0
//
// Whether the value of a variable means what its writer thinks. NCCL itself mostly stays silent.
#ifndef NCCL_TUNE_CORE_NCCL_CHECK_VALUE_H_
#define NCCL_TUNE_CORE_NCCL_CHECK_VALUE_H_

#include <string_view>

#include "base/result.h"

namespace nccl_tune::nccl {

// Ok, or the first thing that is wrong, with what NCCL makes of the value and what to write instead. kNotFound when the
// variable is not in our table; kInvalidInput otherwise. Looks at the text alone, not at what the node has.
base::Status CheckValue(std::string_view name, std::string_view value);

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_CHECK_VALUE_H_
