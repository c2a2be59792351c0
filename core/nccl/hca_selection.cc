// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/hca_selection.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>

#include "base/parse_number.h"
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

// uverbs10 comes after uverbs9; a device without one last.
unsigned UverbsNumber(const facts::Hca& hca) {
  constexpr std::string_view kPrefix = "uverbs";
  constexpr unsigned kNone = std::numeric_limits<unsigned>::max();
  if (!hca.uverbs || !hca.uverbs->starts_with(kPrefix)) return kNone;
  return base::ParseInteger<unsigned>(std::string_view(*hca.uverbs).substr(kPrefix.size())).value_or(kNone);
}

// The HCAs in the order in which NCCL opens them: as the kernel registered them, which their uverbs nodes are numbered
// by. From 2.29.7 on it sorts by PCI address what it has opened by then.
std::vector<std::size_t> OpeningOrder(const facts::Node& node) {
  std::vector<std::size_t> out(node.hcas.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    return UverbsNumber(node.hcas[a]) < UverbsNumber(node.hcas[b]);
  });
  return out;
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
  std::vector<std::size_t> first;  // of each HCA's ports in out.ports
  for (const facts::Hca& hca : node.hcas) {
    first.push_back(out.ports.size());
    for (const facts::IbPort& port : hca.ports) {
      const auto verdict = out.transport_off.empty() ? Judge(hca, port, list) : PortVerdict::kTransportOff;
      out.ports.push_back({.hca = hca.name, .port = port.number, .verdict = verdict});
    }
  }
  std::size_t taken = 0;
  for (const std::size_t hca : OpeningOrder(node)) {
    for (std::size_t i = 0; i < node.hcas[hca].ports.size(); ++i) {
      PortVerdict& verdict = out.ports[first[hca] + i].verdict;
      if (verdict == PortVerdict::kTaken && ++taken > kMostPorts) verdict = PortVerdict::kTooMany;
    }
  }
  return out;
}

}  // namespace nccl_tune::nccl
