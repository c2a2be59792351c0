// SPDX-License-Identifier: Apache-2.0
#include "core/env/without_us.h"

#include <cstddef>

#include "core/nccl/gid_ranking.h"
#include "core/nccl/hca_selection.h"
#include "core/nccl/interface_order.h"

namespace nccl_tune::env {
namespace {

std::string GidText(const facts::IbPort& port, const nccl::NcclVersion& version, const base::Environment& user) {
  if (port.link_layer != facts::LinkLayer::kEthernet) return "";
  const auto choice = nccl::ChooseGid(port, version, user);
  if (!choice.index) return ", whose init fails";
  std::string out = " with GID " + std::to_string(*choice.index);
  if (!choice.gid) return out + ", an empty entry";
  out += ", " + choice.gid->address.ToString();
  if (choice.gid->version == facts::RoceVersion::kV1) out += " (RoCE v1)";
  return out;
}

}  // namespace

WithoutUs PredictWithoutUs(const facts::Node& node, const base::Environment& user, const nccl::NcclVersion& version) {
  WithoutUs out;
  out.version = version;
  const auto selection = nccl::SelectHcas(node, version, user);
  std::size_t at = 0;
  for (const auto& hca : node.hcas) {
    for (const auto& port : hca.ports) {
      if (selection.ports[at++].verdict != nccl::PortVerdict::kTaken) continue;
      out.ports.push_back(hca.name + ":" + std::to_string(port.number) + GidText(port, version, user));
    }
  }
  if (out.ports.empty()) out.no_ports = selection.transport_off.empty() ? "no port is usable" : selection.transport_off;
  const auto order = nccl::ChooseBootstrap(node, version, user);
  out.interface_reason = order.reason;
  out.interface_unknown = order.step == nccl::InterfaceStep::kUnresolved;
  if (!order.interfaces.empty()) {
    out.interface = order.interfaces.front().name + ", " + order.interfaces.front().address.ToString();
  }
  return out;
}

}  // namespace nccl_tune::env
