// SPDX-License-Identifier: Apache-2.0
#include "hw/scrub.h"

#include <algorithm>
#include <optional>

#include "base/parse_number.h"

namespace nccl_tune::hw {
namespace {

std::string Hex(std::uint64_t value, std::size_t width) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out(width, '0');
  for (std::size_t i = width; i-- > 0; value >>= 4) out[i] = kDigits[value & 15];
  return out;
}

// `groups` groups of `width` hexadecimal digits between colons, as one number.
std::optional<std::uint64_t> ParseGroups(std::string_view text, std::size_t groups, std::size_t width) {
  if (text.size() != groups * (width + 1) - 1) return std::nullopt;
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < groups; ++i) {
    if (i > 0 && text[i * (width + 1) - 1] != ':') return std::nullopt;
    const auto part = base::ParseInteger<std::uint16_t>(text.substr(i * (width + 1), width), 16);
    if (!part.ok()) return std::nullopt;
    out = out << (width * 4) | *part;
  }
  return out;
}

template <typename Key, typename Number>
Number NumberOf(std::map<Key, Number>* table, const Key& key) {
  return table->try_emplace(key, static_cast<Number>(table->size() + 1)).first->second;
}

// What our own output begins with; see IsScrubbed.
constexpr std::uint64_t kScrubbedMac = 0x02005e00;
constexpr std::array<std::uint8_t, 6> kScrubbedIdentifier = {0x02, 0x00, 0x5e, 0xff, 0xfe, 0x01};
constexpr std::array<std::uint8_t, 4> kScrubbedNetwork = {0x20, 0x01, 0x0d, 0xb8};

// Our own output stays as it is: numbers given anew in the order of another folder listing would differ.
template <std::size_t kLength>
bool IsScrubbed(const std::array<std::uint8_t, 8>& half, const std::array<std::uint8_t, kLength>& start) {
  return std::equal(start.begin(), start.end(), half.begin());
}

bool IsPrivate4(const facts::IpAddress& a) {
  const auto b = a.bytes;
  return b[12] == 10 || (b[12] == 172 && (b[13] & 0xf0) == 16) || (b[12] == 192 && b[13] == 168) ||
         (b[12] == 100 && (b[13] & 0xc0) == 64);
}

}  // namespace

std::uint16_t Scrubber::MacNumber(std::uint64_t mac) {
  return mac >> 16 == kScrubbedMac ? static_cast<std::uint16_t>(mac) : NumberOf(&macs_, mac);
}

std::string Scrubber::Mac(std::string_view text) {
  const auto mac = ParseGroups(text, 6, 2);
  if (!mac) return "";
  if (*mac == 0) return std::string(text);
  const std::string number = Hex(MacNumber(*mac), 4);
  return "02:00:5e:00:" + number.substr(0, 2) + ":" + number.substr(2);
}

std::string Scrubber::Guid(std::string_view text) {
  const auto guid = ParseGroups(text, 4, 4);
  if (!guid) return "";
  if (*guid == 0) return std::string(text);
  Half half;
  for (std::size_t i = 0; i < half.size(); ++i) half[i] = static_cast<std::uint8_t>(*guid >> (56 - 8 * i));
  if (IsScrubbed(half, kScrubbedIdentifier)) return std::string(text);
  return "0200:5eff:fe01:" + Hex(NumberOf(&identifiers_, half), 4);
}

std::string Scrubber::Name(std::string_view name) {
  constexpr std::size_t kPrefix = 3;  // "enx", "wlx"
  if (name.size() != kPrefix + 12 || name[2] != 'x') return std::string(name);
  const auto mac = base::ParseInteger<std::uint64_t>(name.substr(kPrefix), 16);
  if (!mac.ok()) return std::string(name);
  return std::string(name.substr(0, kPrefix)) + "02005e00" + Hex(MacNumber(*mac), 4);
}

// An identifier made from a MAC address (EUI-64: ff:fe in its middle) follows that MAC address.
Scrubber::Half Scrubber::InterfaceIdentifier(const Half& id) {
  if (std::all_of(id.begin(), id.end(), [](std::uint8_t b) { return b == 0; })) return id;
  if (std::all_of(id.begin(), id.end() - 2, [](std::uint8_t b) { return b == 0; })) return id;  // given by hand: ::15
  if (IsScrubbed(id, kScrubbedIdentifier)) return id;
  if (id[3] == 0xff && id[4] == 0xfe) {
    std::uint64_t mac = 0;
    for (const std::size_t i : {0U, 1U, 2U, 5U, 6U, 7U}) mac = mac << 8 | id[i];
    const std::uint16_t number = MacNumber(mac ^ (std::uint64_t{2} << 40));
    return {
        0x00, 0x00, 0x5e, 0xff, 0xfe, 0x00, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
  }
  const std::uint16_t number = NumberOf(&identifiers_, id);
  return {
      0x02, 0x00, 0x5e, 0xff, 0xfe, 0x01, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
}

facts::IpAddress Scrubber::Address(facts::IpAddress address) {
  auto& b = address.bytes;
  if (address.IsV4()) {
    if (IsPrivate4(address) || !address.IsRoutable()) return address;
    const auto network = static_cast<std::uint16_t>(b[12] << 8 | b[13]);
    b[12] = 100;
    b[13] = static_cast<std::uint8_t>(64 + (NumberOf(&networks4_, network) & 63));
    return address;
  }
  if (address.IsZero() || address.IsLoopback() || address.IsMulticast()) return address;
  Half low;
  std::copy_n(b.begin() + 8, 8, low.begin());
  low = InterfaceIdentifier(low);
  std::copy_n(low.begin(), 8, b.begin() + 8);
  if ((b[0] & 0xe0) == 0x20) {  // 2000::/3, the public space
    Half high;
    std::copy_n(b.begin(), 8, high.begin());
    if (IsScrubbed(high, kScrubbedNetwork)) return address;
    const std::uint16_t number = NumberOf(&networks6_, high);
    const Half fresh = {
        0x20, 0x01, 0x0d, 0xb8, 0, 0, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
    std::copy_n(fresh.begin(), 8, b.begin());
  }
  return address;
}

std::string Scrubber::Gid(std::string_view text) {
  const auto address = facts::ParseGid(text);
  if (!address.ok()) return "";
  const auto scrubbed = Address(*address);
  std::string out;
  for (std::size_t i = 0; i < 16; i += 2) {
    out += (i == 0 ? "" : ":") + Hex(static_cast<std::uint64_t>(scrubbed.bytes[i] << 8 | scrubbed.bytes[i + 1]), 4);
  }
  return out;
}

}  // namespace nccl_tune::hw
