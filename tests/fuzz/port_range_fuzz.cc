// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hw/local_ports.h"
#include "launcher/port_claim.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// The user's range is the first line, the kernel's the rest.
void TryOne(ByteReader bytes) {
  const std::string_view text = bytes.Line();
  const auto local = hw::ParseLocalPorts(bytes.Rest());
  if (!local.ok()) RequireReadable(local.error());
  Require(!local.ok() || local->first <= local->last, "the kernel's ports are in order");
  const auto range = launcher::ParsePortRange(text);
  if (!range.ok()) return RequireReadable(range.error());
  Require(range->first >= 1024 && range->first <= range->last, "a range is in order and none of the system's", text);
  const auto start = launcher::StartPort(*range, text, "0", 0);
  Require(start >= range->first && start <= range->last, "the search starts in the range", text);
  if (!local.ok()) return;
  const bool is_apart = range->last < local->first || range->first > local->last;
  Require(launcher::DescribeOverlap(*range, local->first, local->last).empty() == is_apart, "an overlap is said", text);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
