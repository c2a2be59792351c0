// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hw/pci_config.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  const auto ordering = hw::RelaxedOrderingOf(text);
  const auto redirect = hw::AcsRedirectOf(text);
  constexpr std::size_t kHeader = 64;
  const bool knows = ordering != facts::Tristate::kUnknown || redirect != facts::Tristate::kUnknown;
  Require(!knows || text.size() > kHeader, "nothing is known from a header alone");
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
