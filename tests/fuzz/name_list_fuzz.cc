// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/nccl/name_list.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/node_from_bytes.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void RequireSound(const nccl::NameList& list, std::size_t limit, std::string_view text) {
  Require(list.entries.size() <= limit, "a list keeps its limit", text);
  Require(list.dropped == 0 || list.entries.size() == limit, "entries are dropped beyond the limit only", text);
  for (const auto& entry : list.entries) {
    Require(!entry.name.empty() && entry.name.find_first_of(",:") == entry.name.npos, "an entry is one name", text);
    Require(list.Matches(entry.name, std::nullopt) != list.exclude, "a list matches its own names", text);
    Require(list.Find(entry.name, entry.port) != nullptr, "a list finds its own ports", text);
  }
}

void TryOne(ByteReader bytes) {
  const auto version = VersionFromBytes(&bytes);
  const std::string_view text = bytes.Rest();
  RequireSound(nccl::ParseHcaList(text, version), nccl::kHcaListLimit, text);
  const auto interfaces = nccl::ParseInterfaceList(text, version);
  Require(interfaces.has_value() == (text.size() > 1), "one character counts as unset", text);
  if (interfaces) RequireSound(*interfaces, nccl::kInterfaceListLimit, text);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
