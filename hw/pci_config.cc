// SPDX-License-Identifier: Apache-2.0
#include "hw/pci_config.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace nccl_tune::hw {
namespace {

using facts::Tristate;

constexpr std::size_t kCapabilityList = 0x34;
constexpr std::uint32_t kPciExpress = 0x10;
constexpr std::uint32_t kDeviceControl = 8;
constexpr std::uint32_t kRelaxedOrdering = 1 << 4;

constexpr std::size_t kExtended = 0x100;
constexpr std::size_t kWhole = 0x1000;
constexpr std::uint32_t kAcs = 0x0d;
constexpr std::uint32_t kAcsControl = 6;
// Request redirect, completion redirect, upstream forwarding.
constexpr std::uint32_t kRedirects = 1 << 2 | 1 << 3 | 1 << 4;

// `count` bytes from `at`, least significant first; nothing beyond the end.
std::optional<std::uint32_t> Take(std::string_view config, std::size_t at, std::size_t count) {
  if (at > config.size() || config.size() - at < count) return std::nullopt;
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < count; ++i) {
    out |= static_cast<std::uint32_t>(static_cast<unsigned char>(config[at + i])) << (8 * i);
  }
  return out;
}

// A function that does not answer reads as all ones.
bool Answers(std::string_view config) { return Take(config, 0, 2).value_or(0xffff) != 0xffff; }

Tristate IsAnySet(std::optional<std::uint32_t> word, std::uint32_t bits) {
  if (!word) return Tristate::kUnknown;
  return (*word & bits) != 0 ? Tristate::kYes : Tristate::kNo;
}

}  // namespace

Tristate RelaxedOrderingOf(std::string_view config) {
  if (!Answers(config)) return Tristate::kUnknown;
  constexpr int kMost = 48;  // 192 bytes of capabilities, 4 bytes each at least: a list that loops ends here
  auto at = Take(config, kCapabilityList, 1);
  for (int i = 0; i < kMost && at && *at >= 0x40; ++i) {
    const std::size_t place = *at & 0xfcU;
    const auto id = Take(config, place, 1);
    if (id == kPciExpress) return IsAnySet(Take(config, place + kDeviceControl, 2), kRelaxedOrdering);
    at = Take(config, place + 1, 1);
  }
  return Tristate::kUnknown;
}

Tristate AcsRedirectOf(std::string_view config) {
  if (!Answers(config) || config.size() < kWhole) return Tristate::kUnknown;
  constexpr int kMost = (kWhole - kExtended) / 8;
  std::size_t at = kExtended;
  for (int i = 0; i < kMost && at >= kExtended; ++i) {
    const auto header = Take(config, at, 4);
    if (!header || *header == 0xffffffff) return Tristate::kUnknown;
    if ((*header & 0xffff) == kAcs) return IsAnySet(Take(config, at + kAcsControl, 2), kRedirects);
    at = *header >> 20 & 0xffcU;
  }
  return Tristate::kNo;
}

}  // namespace nccl_tune::hw
