// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/hca_selection.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/nccl/interface_order.h"
#include "core/nccl/name_list.h"
#include "core/nccl/nccl_integer.h"

namespace nccl_tune::nccl {
namespace {

constexpr std::size_t kMostPorts = 32;

bool SameWithoutCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::string WhyTransportIsOff(const facts::Node& node, NcclVersion version, const Environment& environment) {
  const auto disable = ReadNcclInteger(GetVariable(environment, "NCCL_IB_DISABLE").value_or(""));
  if (disable.value.value_or(0) != 0) return "NCCL_IB_DISABLE turns it off";
  const auto net = GetVariable(environment, "NCCL_NET");
  if (net && !SameWithoutCase(*net, "IB")) return "NCCL_NET names another transport";
  const InterfaceOrder order = OrderInterfaces(node, version, environment);
  if (order.step == InterfaceStep::kNone) return "it needs an IP interface for its exchange: " + order.reason;
  return "";
}

PortVerdict Judge(const facts::Hca& hca, const facts::IbPort& port, const NameList& list) {
  if (hca.openable == facts::Openable::kNo || hca.openable == facts::Openable::kMissing)
    return PortVerdict::kCannotOpen;
  if (port.state != facts::PortState::kActive) return PortVerdict::kNotActive;
  const bool ib = port.link_layer == facts::LinkLayer::kInfiniBand;
  if (!ib && port.link_layer != facts::LinkLayer::kEthernet) return PortVerdict::kOtherLinkLayer;
  return list.Matches(hca.name, port.number) ? PortVerdict::kTaken : PortVerdict::kNotInList;
}

}  // namespace

std::vector<JudgedPort> HcaSelection::Taken() const {
  std::vector<JudgedPort> out;
  const auto taken = [](const JudgedPort& port) { return port.verdict == PortVerdict::kTaken; };
  std::copy_if(ports.begin(), ports.end(), std::back_inserter(out), taken);
  return out;
}

std::string_view Explain(PortVerdict verdict) {
  switch (verdict) {
    case PortVerdict::kTaken:
      return "taken";
    case PortVerdict::kTransportOff:
      return "the IB transport is off";
    case PortVerdict::kCannotOpen:
      return "its uverbs node cannot be opened";
    case PortVerdict::kNotActive:
      return "its port is not active";
    case PortVerdict::kOtherLinkLayer:
      return "its link layer is neither InfiniBand nor Ethernet";
    case PortVerdict::kNotInList:
      return "NCCL_IB_HCA leaves it out";
    case PortVerdict::kTooMany:
      return "NCCL opens 32 ports and it comes later";
  }
  return "";
}

HcaSelection SelectHcas(const facts::Node& node, NcclVersion version, const Environment& environment) {
  HcaSelection out;
  out.transport_off = WhyTransportIsOff(node, version, environment);
  const NameList list = ParseHcaList(GetVariable(environment, "NCCL_IB_HCA").value_or(""), version);
  std::size_t taken = 0;
  for (const facts::Hca& hca : node.hcas) {
    for (const facts::IbPort& port : hca.ports) {
      PortVerdict verdict = out.transport_off.empty() ? Judge(hca, port, list) : PortVerdict::kTransportOff;
      if (verdict == PortVerdict::kTaken && ++taken > kMostPorts) verdict = PortVerdict::kTooMany;
      out.ports.push_back({.hca = hca.name, .port = port.number, .verdict = verdict});
    }
  }
  return out;
}

}  // namespace nccl_tune::nccl
