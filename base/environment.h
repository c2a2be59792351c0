// SPDX-License-Identifier: Apache-2.0
//
// A copy of a process environment. Only a program's main reads the real one; everything below takes this value.
//
// Threads: a plain value. Ownership: holds its texts.
#ifndef NCCL_TUNE_BASE_ENVIRONMENT_H_
#define NCCL_TUNE_BASE_ENVIRONMENT_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nccl_tune::base {

using Environment = std::map<std::string, std::string, std::less<>>;

// From a null-terminated list of "NAME=VALUE" such as environ. The first of several equal names wins, as in getenv;
// entries without "=" are left out.
Environment CopyEnvironment(const char* const* entries);

// The value of `name`; nothing when it is not set. An empty value is a value.
std::optional<std::string> Lookup(const Environment& environment, std::string_view name);

// "NAME=VALUE" for each, sorted by name.
std::vector<std::string> ToEntries(const Environment& environment);

}  // namespace nccl_tune::base

#endif  // NCCL_TUNE_BASE_ENVIRONMENT_H_
