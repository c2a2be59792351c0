// SPDX-License-Identifier: Apache-2.0
//
// What every input must hold for, in fuzzers: a broken promise ends the process, which is a finding.
#ifndef NCCL_TUNE_TESTS_FUZZ_REQUIRE_H_
#define NCCL_TUNE_TESTS_FUZZ_REQUIRE_H_

#include <string_view>

#include "base/result.h"

namespace nccl_tune::fuzz {

// Ends the process unless `holds`, after printing the promise and the text that breaks it.
void Require(bool holds, std::string_view promise, std::string_view seen = "");

// An error must be one line of printable ASCII and say something.
void RequireReadable(const base::Error& error);

// No control character, and nothing that is not ASCII.
bool IsPrintableLine(std::string_view text);

}  // namespace nccl_tune::fuzz

#endif  // NCCL_TUNE_TESTS_FUZZ_REQUIRE_H_
