// SPDX-License-Identifier: Apache-2.0
#include "core/facts/pci_address.h"

#include <cstddef>

#include "base/parse_number.h"

namespace nccl_tune::facts {
namespace {

std::string Hex(std::uint32_t value, std::size_t width) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (; value != 0 || out.size() < width; value >>= 4) out.insert(out.begin(), kDigits[value & 15]);
  return out;
}

}  // namespace

std::string PciAddress::ToString() const {
  return Hex(domain, 4) + ":" + Hex(bus, 2) + ":" + Hex(device, 2) + "." + Hex(function, 1);
}

base::Result<PciAddress> ParsePciAddress(std::string_view text) {
  const base::Error bad{.code = base::Code::kInvalidInput,
                        .what = "not a PCI address",
                        .seen = std::string(text),
                        .expected = "a form such as 0000:03:00.1"};
  // From the right: the domain alone has no fixed width.
  constexpr std::size_t kTail = sizeof(":bb:dd.f") - 1;
  if (text.size() < 4 + kTail || text.size() > 8 + kTail) return bad;
  const std::string_view tail = text.substr(text.size() - kTail);
  if (tail[0] != ':' || tail[3] != ':' || tail[6] != '.') return bad;
  const auto domain = base::ParseInteger<std::uint32_t>(text.substr(0, text.size() - kTail), 16);
  const auto bus = base::ParseInteger<std::uint8_t>(tail.substr(1, 2), 16);
  const auto device = base::ParseInteger<std::uint8_t>(tail.substr(4, 2), 16);
  const auto function = base::ParseInteger<std::uint8_t>(tail.substr(7, 1), 16);
  if (!domain.ok() || !bus.ok() || !device.ok() || !function.ok() || *device > 0x1f || *function > 7) return bad;
  return PciAddress{.domain = *domain, .bus = *bus, .device = *device, .function = *function};
}

}  // namespace nccl_tune::facts
