// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "core/nccl/gid_ranking.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/node_from_bytes.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

bool IsOneOf(nccl::GidRule rule, std::initializer_list<nccl::GidRule> rules) {
  return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

void TryOne(ByteReader bytes) {
  const auto version = VersionFromBytes(&bytes);
  const auto port = PortFromBytes(&bytes);
  std::optional<int> length;
  if (bytes.Flag()) length = static_cast<int>(bytes.Byte()) + 1;
  const auto environment = EnvironmentFromBytes(&bytes);
  const auto choice = nccl::ChooseGid(port, version, environment, length);
  Require(!choice.reason.empty() && IsPrintableLine(choice.reason), "a choice has a reason", choice.reason);
  Require(choice.index.has_value() == (choice.rule != nccl::GidRule::kInitFails), "no index, no start");
  if (!choice.index) return;
  Require(*choice.index >= 0, "an index counts");
  Require(!choice.gid || choice.gid->index == *choice.index, "the GID is the one at the index");
  // What is pinned is not looked at; all else comes from the table.
  if (length && !IsOneOf(choice.rule, {nccl::GidRule::kPinned, nccl::GidRule::kRoutableFlid})) {
    Require(*choice.index < *length, "an index is in the table", choice.reason);
  }
  const auto again = nccl::ChooseGid(port, version, environment, length);
  Require(again.index == choice.index && again.reason == choice.reason, "the same twice");
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
