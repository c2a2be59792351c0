// SPDX-License-Identifier: Apache-2.0
#include "hw/sysfs_text.h"

#include <limits>

#include "base/parse_number.h"

namespace nccl_tune::hw {
namespace {

using base::Code;
using base::Error;
using base::Result;

struct Numbered {
  int number = 0;
  std::string_view name;
};

// "NUMBER: NAME"
Result<Numbered> ParseNumbered(std::string_view text, std::string_view what, std::string_view example) {
  const std::string_view line = base::Trim(text);
  const auto colon = line.find(':');
  const auto number = base::ParseInteger<int>(line.substr(0, colon));
  if (colon == std::string_view::npos || !number.ok()) {
    return Error{.code = Code::kInvalidInput,
                 .what = std::string(what),
                 .seen = std::string(line),
                 .expected = "a form such as \"" + std::string(example) + "\""};
  }
  return Numbered{.number = *number, .name = base::Trim(line.substr(colon + 1))};
}

}  // namespace

Result<facts::PortState> ParsePortState(std::string_view text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(state, ParseNumbered(text, "not a port state", "4: ACTIVE"));
  struct Known {
    std::string_view name;
    facts::PortState state;
  };
  constexpr Known kKnown[] = {{"DOWN", facts::PortState::kDown},
                              {"INIT", facts::PortState::kInit},
                              {"ARMED", facts::PortState::kArmed},
                              {"ACTIVE", facts::PortState::kActive},
                              {"ACTIVE_DEFER", facts::PortState::kActiveDefer}};
  if (state.number < 1 || state.number > 5) return facts::PortState::kOther;
  const Known& known = kKnown[state.number - 1];
  if (state.name == known.name) return known.state;
  return Error{.code = Code::kInvalidInput,
               .what = "number and name of the port's state contradict each other",
               .seen = std::string(base::Trim(text)),
               .expected = "\"" + std::to_string(state.number) + ": " + std::string(known.name) + "\""};
}

Result<std::string> ParsePhysicalState(std::string_view text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(state, ParseNumbered(text, "not a physical state", "5: LinkUp"));
  return std::string(state.name);
}

facts::LinkLayer ParseLinkLayer(std::string_view text) {
  const std::string_view line = base::Trim(text);
  if (line == "InfiniBand") return facts::LinkLayer::kInfiniBand;
  if (line == "Ethernet") return facts::LinkLayer::kEthernet;
  return facts::LinkLayer::kOther;
}

Result<facts::GbitPerSecond> ParseRate(std::string_view text) {
  const std::string_view line = base::Trim(text);
  const auto blank = line.find(' ');
  const auto value = base::ParseDecimal(line.substr(0, blank));
  const std::string_view unit = blank == std::string_view::npos ? "" : line.substr(blank + 1);
  constexpr double kFastest = 100000;  // far above any link: what is beyond is no rate
  if (!value.ok() || *value <= 0 || *value > kFastest || !(unit == "Gb/sec" || unit.starts_with("Gb/sec "))) {
    return Error{.code = Code::kInvalidInput,
                 .what = "not a rate",
                 .seen = std::string(line),
                 .expected = "a form such as \"100 Gb/sec (4X EDR)\""};
  }
  return facts::GbitPerSecond{*value};
}

Result<facts::RoceVersion> ParseRoceVersion(std::string_view text) {
  const std::string_view line = base::Trim(text);
  if (line == "IB/RoCE v1") return facts::RoceVersion::kV1;
  if (line == "RoCE v2") return facts::RoceVersion::kV2;
  return Error{.code = Code::kInvalidInput,
               .what = "not a GID type",
               .seen = std::string(line),
               .expected = "\"IB/RoCE v1\" or \"RoCE v2\""};
}

Result<facts::NodeType> ParseNodeType(std::string_view text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(type, ParseNumbered(text, "not a node type", "1: CA"));
  if (type.number == 1) return facts::NodeType::kChannelAdapter;
  if (type.number == 4) return facts::NodeType::kRnic;
  return facts::NodeType::kOther;
}

Result<std::uint32_t> ParseLid(std::string_view text) {
  const auto value = base::ParseHexOrDecimal(base::Trim(text));
  if (!value.ok() || *value > std::numeric_limits<std::uint32_t>::max()) {
    return Error{.code = Code::kInvalidInput,
                 .what = "not a LID",
                 .seen = std::string(base::Trim(text)),
                 .expected = "a form such as 0x12"};
  }
  return static_cast<std::uint32_t>(*value);
}

Result<std::uint32_t> ParsePkey(std::string_view text) {
  const auto value = base::ParseHexOrDecimal(base::Trim(text));
  if (!value.ok() || *value > 0xffff) {
    return Error{.code = Code::kInvalidInput,
                 .what = "not a P_Key",
                 .seen = std::string(base::Trim(text)),
                 .expected = "a form such as 0xffff"};
  }
  return static_cast<std::uint32_t>(*value);
}

std::vector<VlanRow> ParseVlanConfig(std::string_view text) {
  constexpr int kLastVlan = 4094;
  std::vector<VlanRow> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto first = line.find('|');
    const auto second = first == std::string_view::npos ? first : line.find('|', first + 1);
    if (second == std::string_view::npos) continue;
    const auto id = base::ParseInteger<int>(base::Trim(line.substr(first + 1, second - first - 1)));
    const std::string_view name = base::Trim(line.substr(0, first));
    const std::string_view parent = base::Trim(line.substr(second + 1));
    if (!id.ok() || *id < 0 || *id > kLastVlan || name.empty() || parent.empty()) continue;
    out.push_back({.name = std::string(name), .id = *id, .parent = std::string(parent)});
  }
  return out;
}

std::vector<facts::PciAddress> PciFunctionsOf(std::string_view device_path) {
  std::vector<facts::PciAddress> out;
  while (!device_path.empty()) {
    const auto slash = device_path.find('/');
    const auto address = facts::ParsePciAddress(device_path.substr(0, slash));
    if (address.ok()) out.push_back(*address);
    device_path.remove_prefix(slash == std::string_view::npos ? device_path.size() : slash + 1);
  }
  return out;
}

}  // namespace nccl_tune::hw
