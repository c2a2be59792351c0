// SPDX-License-Identifier: Apache-2.0
//
// A PCI function's address as a value, never as text to cut.
#ifndef NCCL_TUNE_CORE_FACTS_PCI_ADDRESS_H_
#define NCCL_TUNE_CORE_FACTS_PCI_ADDRESS_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::facts {

struct PciAddress {
  std::uint32_t domain = 0;  // 32 bits: virtual machine buses use domains above ffff
  std::uint8_t bus = 0;
  std::uint8_t device = 0;
  std::uint8_t function = 0;

  auto operator<=>(const PciAddress&) const = default;

  // "0000:03:00.1", the kernel's own form.
  std::string ToString() const;
  // Same card slot: everything but the function is equal.
  bool SameSlot(const PciAddress& other) const {
    return domain == other.domain && bus == other.bus && device == other.device;
  }
};

// Accepts exactly the kernel's form: 4 or more hexadecimal digits of domain, 2 of bus, 2 of device (at most 1f), one of
// function (at most 7).
base::Result<PciAddress> ParsePciAddress(std::string_view text);

}  // namespace nccl_tune::facts

#endif  // NCCL_TUNE_CORE_FACTS_PCI_ADDRESS_H_
