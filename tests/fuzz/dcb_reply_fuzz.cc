// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hw/dcb.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  const auto dcb = hw::ParseDcbReply(text);
  if (!dcb.ok()) return RequireReadable(dcb.error());
  const auto again = hw::ParseDcbJson(hw::WriteDcbPfc(*dcb), hw::WriteDcbApp(*dcb));
  Require(again.ok() && again->pfc == dcb->pfc && again->dscp == dcb->dscp, "an answer is written and read as it was");
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
