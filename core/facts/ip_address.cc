// SPDX-License-Identifier: Apache-2.0
#include "core/facts/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/parse_number.h"

namespace nccl_tune::facts {
namespace {

constexpr int kMappedBits = 96;  // of ::ffff:0:0/96

bool IsZeroRange(const IpAddress& ip, std::size_t from, std::size_t to) {
  return std::all_of(ip.bytes.begin() + static_cast<std::ptrdiff_t>(from),
                     ip.bytes.begin() + static_cast<std::ptrdiff_t>(to), [](std::uint8_t b) { return b == 0; });
}

int BitsBefore(const IpAddress& ip) { return ip.IsV4() ? kMappedBits : 0; }

}  // namespace

bool IpAddress::IsZero() const { return IsZeroRange(*this, 0, 16) || (IsV4() && IsZeroRange(*this, 12, 16)); }

bool IpAddress::IsV4() const { return IsZeroRange(*this, 0, 10) && bytes[10] == 0xff && bytes[11] == 0xff; }

bool IpAddress::IsLoopback() const { return IsV4() ? bytes[12] == 127 : IsZeroRange(*this, 0, 15) && bytes[15] == 1; }

bool IpAddress::IsLinkLocal() const {
  return IsV4() ? bytes[12] == 169 && bytes[13] == 254 : bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

bool IpAddress::IsMulticast() const { return IsV4() ? (bytes[12] & 0xf0) == 0xe0 : bytes[0] == 0xff; }

bool IpAddress::IsRoutable() const { return !IsZero() && !IsLoopback() && !IsLinkLocal() && !IsMulticast(); }

std::string IpAddress::ToString() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool v4 = IsV4();
  inet_ntop(v4 ? AF_INET : AF_INET6, bytes.data() + (v4 ? 12 : 0), text.data(), text.size());
  return text.data();
}

base::Result<IpAddress> ParseIpAddress(std::string_view text) {
  const std::string copy(text);
  IpAddress out;
  if (copy.size() == text.size() && copy.find('\0') == std::string::npos) {
    if (inet_pton(AF_INET6, copy.c_str(), out.bytes.data()) == 1) return out;
    if (inet_pton(AF_INET, copy.c_str(), out.bytes.data() + 12) == 1) {
      std::fill_n(out.bytes.begin(), 10, std::uint8_t{0});
      out.bytes[10] = out.bytes[11] = 0xff;
      return out;
    }
  }
  return base::Error{.code = base::Code::kInvalidInput,
                     .what = "not an IP address",
                     .seen = copy,
                     .expected = "an IPv4 or IPv6 address without prefix length"};
}

base::Result<IpAddress> ParseGid(std::string_view text) {
  const base::Error bad{.code = base::Code::kInvalidInput,
                        .what = "not a GID",
                        .seen = std::string(text),
                        .expected = "8 groups of 4 hexadecimal digits"};
  constexpr std::size_t kLength = 39;
  if (text.size() != kLength) return bad;
  IpAddress out;
  for (std::size_t group = 0; group < 8; ++group) {
    if (group != 7 && text[group * 5 + 4] != ':') return bad;
    const auto value = base::ParseInteger<std::uint16_t>(text.substr(group * 5, 4), 16);
    if (!value.ok()) return bad;
    out.bytes[group * 2] = static_cast<std::uint8_t>(*value >> 8);
    out.bytes[group * 2 + 1] = static_cast<std::uint8_t>(*value & 0xff);
  }
  return out;
}

bool IpPrefix::Contains(const IpAddress& other) const {
  if (other.IsV4() != address.IsV4()) return false;
  const int bits = BitsBefore(address) + length;
  for (int bit = 0; bit < bits; bit += 8) {
    const int rest = std::min(8, bits - bit);
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - rest));
    const auto at = static_cast<std::size_t>(bit / 8);
    if ((address.bytes[at] & mask) != (other.bytes[at] & mask)) return false;
  }
  return true;
}

IpPrefix IpPrefix::Network() const {
  IpPrefix out = *this;
  const int bits = BitsBefore(address) + length;
  for (int bit = 0; bit < 128; ++bit) {
    if (bit >= bits) {
      auto& byte = out.address.bytes[static_cast<std::size_t>(bit / 8)];
      byte = static_cast<std::uint8_t>(byte & ~(0x80 >> (bit % 8)));
    }
  }
  return out;
}

std::string IpPrefix::ToString() const { return address.ToString() + "/" + std::to_string(length); }

base::Result<IpPrefix> MakePrefix(const IpAddress& address, std::int64_t length) {
  const int limit = address.IsV4() ? 32 : 128;
  if (length < 0 || length > limit) {
    return base::Error{.code = base::Code::kInvalidInput,
                       .what = "prefix length out of range",
                       .seen = std::to_string(length),
                       .expected = "0 to " + std::to_string(limit)};
  }
  return IpPrefix{.address = address, .length = static_cast<int>(length)};
}

base::Result<IpPrefix> ParseIpPrefix(std::string_view text) {
  const auto slash = text.find('/');
  const base::Error bad{.code = base::Code::kInvalidInput,
                        .what = "not a network",
                        .seen = std::string(text),
                        .expected = "one network such as 10.0.0.0/8 or fd00::/8"};
  if (slash == std::string_view::npos) return bad;
  const auto address = ParseIpAddress(text.substr(0, slash));
  const auto length = base::ParseInteger<int>(text.substr(slash + 1));
  if (!address.ok() || !length.ok()) return bad;
  return MakePrefix(*address, *length);
}

}  // namespace nccl_tune::facts
