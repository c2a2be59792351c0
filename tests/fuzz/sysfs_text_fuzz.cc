// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hw/sysfs_text.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

template <typename T>
void RequireValueOrReason(const base::Result<T>& result) {
  if (!result.ok()) RequireReadable(result.error());
}

void TryOne(std::string_view text) {
  RequireValueOrReason(hw::ParsePortState(text));
  RequireValueOrReason(hw::ParsePhysicalState(text));
  RequireValueOrReason(hw::ParseRoceVersion(text));
  RequireValueOrReason(hw::ParseNodeType(text));
  RequireValueOrReason(hw::ParseLid(text));
  (void)hw::ParseLinkLayer(text);
  const auto rate = hw::ParseRate(text);
  RequireValueOrReason(rate);
  Require(!rate.ok() || (rate->value > 0 && rate->value <= 100000), "a rate is one of a link", text);
  for (const auto& pci : hw::PciFunctionsOf(text)) {
    Require(text.find(pci.ToString().substr(pci.ToString().size() - 2)) != text.npos, "a PCI address stands there",
            text);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
