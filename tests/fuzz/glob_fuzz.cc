// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/policy/glob.h"
#include "core/policy/host_list.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  const auto split = text.find(0x0a);
  const std::string_view pattern = text.substr(0, split);
  const std::string_view name = split == text.npos ? pattern : text.substr(split + 1);
  if (pattern.find_first_of("*?") == pattern.npos) {
    Require(policy::MatchesGlob(pattern, name) == (pattern == name), "without signs a name is exact", text);
  }
  Require(policy::MatchesGlob("*", name), "a star matches all", name);
  const auto list = policy::ParseHostList(pattern);
  if (!list.ok()) return RequireReadable(list.error());
  (void)list->Contains(std::string(name));
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
