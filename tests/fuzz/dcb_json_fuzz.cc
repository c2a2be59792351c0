// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hw/dcb.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// The first line is that of priorities, the rest that of entries.
void TryOne(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const auto dcb = hw::ParseDcbJson(text.substr(0, end), text.substr(std::min(end + 1, text.size())));
  if (!dcb.ok()) return RequireReadable(dcb.error());
  Require(std::is_sorted(dcb->dscp.begin(), dcb->dscp.end()), "entries are sorted");
  const auto again = hw::ParseDcbJson(hw::WriteDcbPfc(*dcb), hw::WriteDcbApp(*dcb));
  Require(again.ok() && again->pfc == dcb->pfc && again->dscp == dcb->dscp, "what is written is read as it was");
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
