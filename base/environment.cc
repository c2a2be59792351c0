// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

namespace nccl_tune::base {

Environment CopyEnvironment(const char* const* entries) {
  Environment copy;
  for (; entries != nullptr && *entries != nullptr; ++entries) {
    const std::string_view entry(*entries);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    copy.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return copy;
}

std::optional<std::string> Lookup(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> ToEntries(const Environment& environment) {
  std::vector<std::string> entries;
  entries.reserve(environment.size());
  for (const auto& [name, value] : environment) entries.push_back(name + "=" + value);
  return entries;
}

}  // namespace nccl_tune::base
