// SPDX-License-Identifier: Apache-2.0
//
// The short text of rails: EncodeKinds, EncodeNetworks, DecodeRails, EncodeLayout, DecodeLayout.
#include <array>
#include <charconv>
#include <cstdint>

#include "base/parse_number.h"
#include "launcher/rails.h"

namespace nccl_tune::launcher {
namespace {

using base::Error;
using base::Result;
using facts::IpPrefix;

Error Bad(std::string what, std::string_view seen, std::string expected) {
  return {.code = base::Code::kInvalidInput,
          .what = std::move(what),
          .seen = std::string(seen),
          .expected = std::move(expected)};
}

// What any port could have, so that its text is short.
bool IsRate(double gbps) { return gbps >= 0.001 && gbps < 1e6; }

std::string RateText(double gbps) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), gbps, std::chars_format::fixed).ptr;
  return {buffer.data(), end};
}

std::string KindText(const Rail& rail) {
  std::string out = rail.ethernet ? "E" : "I";
  if (rail.gbps && IsRate(*rail.gbps)) out += RateText(*rail.gbps);
  if (rail.mtu && *rail.mtu >= 0) out += "m" + std::to_string(*rail.mtu);
  if (!rail.families.empty()) out += "g" + rail.families;
  if (rail.roce) out += "r" + std::to_string(*rail.roce);
  return out;
}

// The part of a prefix that counts networks of one length, as a number: the address above its host bits.
std::optional<std::uint64_t> Counter(const IpPrefix& network) {
  const bool v4 = network.address.IsV4();
  if (network.length <= 0 || network.length > (v4 ? 32 : 64)) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = v4 ? 12 : 0; i < (v4 ? 16U : 8U); ++i) number = number << 8U | network.address.bytes[i];
  return number >> static_cast<unsigned>((v4 ? 32 : 64) - network.length);
}

// The network of the same length with this counter; nothing when there is none.
std::optional<IpPrefix> WithCounter(IpPrefix network, std::uint64_t counter) {
  const bool v4 = network.address.IsV4();
  const auto length = static_cast<unsigned>(network.length);
  if (length < 64 && counter >> length != 0) return std::nullopt;
  std::uint64_t number = counter << ((v4 ? 32U : 64U) - length);
  for (std::size_t i = v4 ? 16 : 8; i-- > (v4 ? 12U : 0U); number >>= 8U)
    network.address.bytes[i] = static_cast<std::uint8_t>(number & 0xffU);
  // The first bytes of an IPv6 network must not make it an IPv4 one.
  return network.address.IsV4() == v4 ? std::optional(network) : std::nullopt;
}

// From one network to the next; nothing where no step of this kind leads there.
std::optional<std::uint64_t> Step(const Rail& from, const Rail& to) {
  if (!from.network || !to.network) return from.network == to.network ? std::optional(std::uint64_t{0}) : std::nullopt;
  if (from.network == to.network) return 0;
  const auto a = Counter(*from.network);
  const auto b = Counter(*to.network);
  const bool alike =
      from.network->length == to.network->length && from.network->address.IsV4() == to.network->address.IsV4();
  if (!alike || !a || !b || *b <= *a) return std::nullopt;
  return WithCounter(*from.network, *b) == to.network ? std::optional(*b - *a) : std::nullopt;
}

std::vector<std::string_view> SplitCommas(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = text.find(',');
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
    if (text.empty()) out.push_back(text);
  }
  return out;
}

// The digits (and, for a rate, the point) at the front of `rest`, taken from it.
std::string_view TakeDigits(std::string_view* rest, std::string_view allowed = "0123456789") {
  const auto end = std::min(rest->find_first_not_of(allowed), rest->size());
  const auto out = rest->substr(0, end);
  rest->remove_prefix(end);
  return out;
}

bool TakeLetter(std::string_view* rest, char letter) {
  if (!rest->starts_with(letter)) return false;
  rest->remove_prefix(1);
  return true;
}

// 1 to kMostRails, without leading zeros.
Result<std::size_t> ParseCount(std::string_view text, std::string_view whole) {
  const auto number = base::ParseInteger<std::uint32_t>(text);
  if (number.ok() && *number >= 1 && *number <= kMostRails && !text.starts_with('0')) return std::size_t{*number};
  return Bad("not a count of rails", whole, "a count from 1 to " + std::to_string(kMostRails));
}

Result<Rail> ParseKind(std::string_view text) {
  const Error malformed = Bad("not a kind of rail", text, "a form such as E400m9000g46r2");
  std::string_view rest = text;
  Rail out;
  out.ethernet = TakeLetter(&rest, 'E');
  if (!out.ethernet && !TakeLetter(&rest, 'I')) return malformed;
  if (const auto rate = TakeDigits(&rest, "0123456789."); !rate.empty()) {
    const auto number = base::ParseDecimal(rate);
    if (!number.ok() || !IsRate(*number)) return malformed;
    out.gbps = *number;
  }
  if (TakeLetter(&rest, 'm')) {
    const auto number = base::ParseInt(TakeDigits(&rest));
    if (!number.ok()) return malformed;
    out.mtu = *number;
  }
  if (TakeLetter(&rest, 'g')) {
    out.families = TakeDigits(&rest, "46");
    if (out.families.empty() || out.families.size() > 2 || out.families == "44" || out.families == "66")
      return malformed;
  }
  if (TakeLetter(&rest, 'r')) {
    const auto number = base::ParseInt(TakeDigits(&rest));
    if (!number.ok() || (*number != 1 && *number != 2)) return malformed;
    out.roce = *number;
  }
  if (!rest.empty()) return malformed;
  return out;
}

// NETWORK[+STEP][xCOUNT] or -[xCOUNT], onto `out`.
base::Status ParseRun(std::string_view text, std::vector<std::optional<IpPrefix>>* out) {
  const auto cross = text.find('x');
  std::size_t count = 1;
  if (cross != std::string_view::npos) {
    NCCL_TUNE_ASSIGN_OR_RETURN(parsed, ParseCount(text.substr(cross + 1), text));
    count = parsed;
  }
  std::string_view first = text.substr(0, cross);
  if (first == "-") {
    out->insert(out->end(), count, std::nullopt);
    return base::Ok();
  }
  const auto plus = first.find('+');
  std::uint64_t step = 0;
  if (plus != std::string_view::npos) {
    const auto number = base::ParseInteger<std::uint64_t>(first.substr(plus + 1));
    if (!number.ok() || count == 1) return Bad("not a step between networks", text, "a form such as 10.0.0.0/24+1x8");
    step = *number;
    first = first.substr(0, plus);
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(network, facts::ParseIpPrefix(first));
  if (network.Network() != network) return Bad("a network with host bits", text, "a form such as 10.0.0.0/24");
  const auto counter = Counter(network);
  for (std::size_t i = 0; i < count; ++i) {
    const auto next = step == 0 ? std::optional(network)
                      : counter ? WithCounter(network, *counter + i * step)
                                : std::nullopt;
    if (!next) return Bad("networks beyond the last one", text, "a step that stays among the networks");
    out->push_back(next);
  }
  return base::Ok();
}

}  // namespace

std::string EncodeKinds(const std::vector<Rail>& rails) {
  std::string out;
  for (std::size_t i = 0; i < rails.size();) {
    const std::string kind = KindText(rails[i]);
    std::size_t end = i + 1;
    while (end < rails.size() && KindText(rails[end]) == kind) ++end;
    out += (out.empty() ? "" : ",") + (end - i > 1 ? std::to_string(end - i) + "x" : "") + kind;
    i = end;
  }
  return out;
}

std::string EncodeNetworks(const std::vector<Rail>& rails) {
  std::string out;
  for (std::size_t i = 0; i < rails.size();) {
    const auto step = i + 1 < rails.size() ? Step(rails[i], rails[i + 1]) : std::nullopt;
    std::size_t end = i + 1;
    while (step && end < rails.size() && Step(rails[end - 1], rails[end]) == step) ++end;
    out += (out.empty() ? "" : ",") + (rails[i].network ? rails[i].network->ToString() : "-");
    if (step.value_or(0) != 0) out += "+" + std::to_string(*step);
    if (end - i > 1) out += "x" + std::to_string(end - i);
    i = end;
  }
  return out;
}

Result<std::vector<Rail>> DecodeRails(std::string_view kinds, std::string_view networks) {
  std::vector<Rail> out;
  for (const auto item : SplitCommas(kinds)) {
    const auto cross = item.find('x');
    std::size_t count = 1;
    if (cross != std::string_view::npos) {
      NCCL_TUNE_ASSIGN_OR_RETURN(parsed, ParseCount(item.substr(0, cross), item));
      count = parsed;
    }
    NCCL_TUNE_ASSIGN_OR_RETURN(kind, ParseKind(cross == std::string_view::npos ? item : item.substr(cross + 1)));
    if (out.size() + count > kMostRails) return Bad("too many rails", kinds, "at most " + std::to_string(kMostRails));
    out.insert(out.end(), count, kind);
  }
  std::vector<std::optional<IpPrefix>> found;
  for (const auto item : SplitCommas(networks)) {
    NCCL_TUNE_RETURN_IF_ERROR(ParseRun(item, &found));
    if (found.size() > kMostRails) break;
  }
  if (found.size() != out.size())
    return Bad("other networks than rails", networks, "a network for each of " + std::to_string(out.size()) + " rails");
  for (std::size_t i = 0; i < out.size(); ++i) out[i].network = found[i];
  return out;
}

std::string EncodeLayout(std::string_view layout) {
  std::string out;
  for (std::size_t i = 0; i < layout.size();) {
    const std::size_t end = std::min(layout.find_first_not_of(layout[i], i), layout.size());
    out += (end - i > 1 ? std::to_string(end - i) : "") + layout[i];
    i = end;
  }
  return out;
}

Result<std::string> DecodeLayout(std::string_view text) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const auto digits = TakeDigits(&rest);
    const auto count = digits.empty() ? Result<std::uint32_t>(1U) : base::ParseInteger<std::uint32_t>(digits);
    const bool letter = !rest.empty() && std::string_view("udo").find(rest.front()) != std::string_view::npos;
    if (!letter || !count.ok() || *count == 0 || out.size() + *count > kMostPlaces)
      return Bad("not a layout of ports", text, "a form such as 8u2o");
    out.append(*count, rest.front());
    rest.remove_prefix(1);
  }
  return out;
}

}  // namespace nccl_tune::launcher
