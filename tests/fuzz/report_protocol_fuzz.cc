// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spank/report_groups.h"
#include "spank/report_protocol.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

void TryOne(std::string_view text) {
  const auto place = spank::ParseCollectorPlace(text);
  if (place.ok()) {
    const auto again = spank::ParseCollectorPlace(spank::ToText(*place));
    Require(again.ok() && *again == *place, "a place comes back as it was", text);
  }
  const auto report = spank::ParseReport(text, kToken);
  if (!report.ok()) return;
  const auto again = spank::ParseReport(spank::ToLine(*report, kToken), kToken);
  Require(again.ok() && *again == *report, "a report comes back as it was", text);
  std::string_view shown;
  const std::string all = spank::GroupReports({*report, *report});
  for (std::string_view rest = all; !rest.empty();) {
    shown = rest.substr(0, rest.find('\n'));
    Require(IsPrintableLine(shown) || shown.empty(), "what is shown is printable", text);
    rest.remove_prefix(shown.size() + 1);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
