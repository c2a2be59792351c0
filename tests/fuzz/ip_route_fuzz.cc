// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/ip_facts.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  std::vector<facts::Note> notes;
  const auto routes = hw::ParseIpRoute(text, &notes);
  if (!routes.ok()) return RequireReadable(routes.error());
  const std::string written = hw::WriteIpRoute(*routes);
  notes.clear();
  const auto again = hw::ParseIpRoute(written, &notes);
  Require(again.ok() && notes.empty(), "written routes can be read", written);
  Require(hw::WriteIpRoute(*again) == written, "written routes are read as they were", written);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
