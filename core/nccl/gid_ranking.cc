// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/gid_ranking.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "core/facts/ip_address.h"
#include "core/nccl/nccl_integer.h"

namespace nccl_tune::nccl {
namespace {

constexpr NcclVersion kAutomatic{2, 21, 0};
constexpr NcclVersion kIndexIgnoredOnInfiniBand{2, 22, 0};
constexpr NcclVersion kUnreadableTypeSkipped{2, 26, 2};

struct Range {
  facts::IpAddress address;
  std::int64_t length = 0;
};

// What the user's variables ask for.
struct Wanted {
  bool v4 = true;
  std::int64_t roce_version = 2;
  std::optional<Range> range;
};

std::int64_t IntegerOr(const Environment& environment, std::string_view name, std::int64_t fallback) {
  return ReadNcclInteger(GetVariable(environment, name).value_or("")).value.value_or(fallback);
}

// NCCL ignores a range without "/", of the other family or with too long a prefix; text for a length is 0.
std::optional<Range> ReadRange(std::string_view text, bool v4) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = facts::ParseIpAddress(text.substr(0, slash));
  if (!address.ok() || (text.substr(0, slash).find(':') == std::string_view::npos) != v4) return std::nullopt;
  const int length = ReadListNumber(text.substr(slash + 1));
  if (length > (v4 ? 32 : 128)) return std::nullopt;
  return Range{.address = *address, .length = v4 && length > 0 ? length + 96 : length};
}

Wanted ReadWanted(const Environment& environment) {
  Wanted wanted;
  wanted.v4 = GetVariable(environment, "NCCL_IB_ADDR_FAMILY") != "AF_INET6";
  wanted.roce_version = IntegerOr(environment, "NCCL_IB_ROCE_VERSION_NUM", 2);
  if (const auto range = GetVariable(environment, "NCCL_IB_ADDR_RANGE")) wanted.range = ReadRange(*range, wanted.v4);
  return wanted;
}

// NCCL compares bit by bit; a negative length matches nothing.
bool InRange(const facts::IpAddress& address, const std::optional<Range>& range) {
  if (!range || range->length == 0) return true;
  if (range->length < 0) return false;
  for (std::int64_t bit = 0; bit < range->length; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((address.bytes[byte] & mask) != (range->address.bytes[byte] & mask)) return false;
  }
  return true;
}

// IPv4-mapped addresses and their multicast form count as AF_INET, all others as AF_INET6, zero among them.
bool IsV4Family(const facts::IpAddress& address) {
  constexpr std::array<std::uint8_t, 12> kMulticast = {0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return address.IsV4() || std::equal(kMulticast.begin(), kMulticast.end(), address.bytes.begin());
}

// Not zero and not in fe80::/64; 169.254/16 is valid.
bool IsValid(const facts::IpAddress& address) {
  constexpr std::array<std::uint8_t, 8> kLinkLocal = {0xfe, 0x80};
  return !address.IsZero() && !std::equal(kLinkLocal.begin(), kLinkLocal.end(), address.bytes.begin());
}

const facts::Gid* FindGid(const facts::IbPort& port, std::int64_t index) {
  const auto found = std::find_if(port.gids.begin(), port.gids.end(), [&](const auto& g) { return g.index == index; });
  return found == port.gids.end() ? nullptr : &*found;
}

facts::IpAddress AddressAt(const facts::IbPort& port, int index) {
  const facts::Gid* gid = FindGid(port, index);
  return gid == nullptr ? facts::IpAddress{} : gid->address;
}

std::optional<int> VersionAt(const facts::IbPort& port, int index) {
  const facts::Gid* gid = FindGid(port, index);
  if (gid == nullptr || !gid->version) return std::nullopt;
  return *gid->version == facts::RoceVersion::kV2 ? 2 : 1;
}

GidChoice Choose(const facts::IbPort& port, std::int64_t index, GidRule rule, std::string reason) {
  GidChoice choice;
  constexpr std::int64_t kLargest = std::numeric_limits<int>::max();
  choice.index = static_cast<int>(std::clamp<std::int64_t>(index, 0, kLargest));
  choice.rule = rule;
  if (const facts::Gid* gid = FindGid(port, index)) choice.gid = *gid;
  if (!choice.gid) reason += "; that slot is empty";
  choice.reason = std::move(reason);
  return choice;
}

GidChoice Fail(std::string reason) {
  return GidChoice{
      .index = std::nullopt, .rule = GidRule::kInitFails, .gid = std::nullopt, .reason = std::move(reason)};
}

GidChoice ChooseInfiniBand(const facts::IbPort& port, const Environment& environment) {
  const std::int64_t index = IntegerOr(environment, "NCCL_IB_ROUTABLE_FLID_GID_INDEX", 1);
  const facts::Gid* gid = FindGid(port, index);
  if (gid != nullptr && (gid->address.bytes[4] != 0 || gid->address.bytes[5] != 0)) {
    return Choose(port, index, GidRule::kRoutableFlid, "on InfiniBand the GID with an FLID is taken");
  }
  return Choose(port, 0, GidRule::kInfiniBandZero, "on InfiniBand index 0 is taken, no GID carries an FLID");
}

struct Step {
  bool takes = false;
  bool fails = false;
  GidRule rule = GidRule::kIndexZero;
};

// One candidate against the choice so far.
Step Compare(const facts::IbPort& port, const Wanted& wanted, NcclVersion version, int current, int candidate) {
  const facts::IpAddress now = AddressAt(port, current);
  const facts::IpAddress next = AddressAt(port, candidate);
  if (IsV4Family(next) != wanted.v4 || !InRange(next, wanted.range)) return {};
  if (IsV4Family(now) != wanted.v4) return {.takes = true, .rule = GidRule::kFamily};
  if (!IsValid(next)) return {};
  const std::optional<int> now_version = VersionAt(port, current);
  const std::optional<int> next_version = VersionAt(port, candidate);
  if ((!now_version || !next_version) && version < kUnreadableTypeSkipped) return {.fails = true};
  const bool better = next_version == wanted.roce_version && (now_version != next_version || !IsValid(now));
  return {.takes = better, .rule = GidRule::kVersion};
}

std::string Explain(GidRule rule, const Wanted& wanted, const facts::IbPort& port) {
  const std::string family = wanted.v4 ? "IPv4" : "IPv6";
  const std::string range = wanted.range ? " in the range" : "";
  if (rule == GidRule::kFamily) return "first " + family + " GID" + range + ", no later one beats it";
  if (rule == GidRule::kVersion) {
    return "first " + family + " GID" + range + " with RoCE version " + std::to_string(wanted.roce_version);
  }
  const facts::IpAddress zero = AddressAt(port, 0);
  if (IsV4Family(zero) == wanted.v4 && IsValid(zero))
    return "index 0 is kept: it is an " + family + " GID and no other beats it";
  return "index 0 is kept: no other GID is a valid " + family + " address" + range;
}

GidChoice ChooseAutomatically(const facts::IbPort& port, NcclVersion version, const Wanted& wanted, int length) {
  int current = 0;
  GidRule rule = GidRule::kIndexZero;
  for (int candidate = 1; candidate < length; ++candidate) {
    const Step step = Compare(port, wanted, version, current, candidate);
    if (step.fails) {
      return Fail("the GID type of index " + std::to_string(VersionAt(port, current) ? candidate : current) +
                  " cannot be read, which ends the init of NCCL before 2.26.2");
    }
    if (!step.takes) continue;
    current = candidate;
    rule = step.rule;
  }
  return Choose(port, current, rule, Explain(rule, wanted, port));
}

}  // namespace

GidChoice ChooseGid(const facts::IbPort& port, NcclVersion version, const Environment& environment,
                    std::optional<int> table_length) {
  const bool infiniband = port.link_layer == facts::LinkLayer::kInfiniBand;
  if (infiniband && version >= kIndexIgnoredOnInfiniBand) return ChooseInfiniBand(port, environment);
  const std::int64_t by_default = version < kAutomatic ? 0 : -1;
  const auto text = GetVariable(environment, "NCCL_IB_GID_INDEX");
  const std::optional<std::int64_t> read = ReadNcclInteger(text.value_or("")).value;
  const std::int64_t index = read.value_or(by_default);
  if (index >= 0 && read) return Choose(port, index, GidRule::kPinned, "NCCL_IB_GID_INDEX names it");
  if (index >= 0) return Choose(port, index, GidRule::kOldDefault, "the default of NCCL before 2.21");
  if (version < kAutomatic) return Fail("NCCL_IB_GID_INDEX is negative, and NCCL before 2.21 has no automatic choice");
  if (infiniband)
    return Choose(port, 0, GidRule::kInfiniBandZero, "on InfiniBand the automatic choice ends at index 0");
  int length = 1;
  for (const facts::Gid& gid : port.gids) length = std::max(length, gid.index + 1);
  return ChooseAutomatically(port, version, ReadWanted(environment), table_length.value_or(length));
}

}  // namespace nccl_tune::nccl
