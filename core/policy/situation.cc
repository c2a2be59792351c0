// SPDX-License-Identifier: Apache-2.0
#include "core/policy/situation.h"

#include <vector>

#include "core/nccl/name_list.h"

namespace nccl_tune::policy {

Situation Assess(const facts::Node& node, const Preferences& preferences) {
  Situation out;
  out.node = &node;
  out.preferences = preferences;
  out.selection = SelectPorts(node, preferences.site);
  out.steering = SteerGid(out.selection.ports, preferences.site.GidIndex() == GidIndexRule::kPin);
  if (!out.selection.ports.empty()) {
    std::vector<nccl::NamedPort> ports;
    for (const auto& ref : out.selection.ports) ports.push_back({ref.hca->name, ref.port->number});
    auto list = nccl::FormatExactList(ports);
    if (list.ok())
      out.hca_list = *std::move(list);
    else
      out.why_no_list = list.error().what;
  }
  out.bootstrap = ChooseBootstrap(node, out.selection, preferences.site);
  if (out.bootstrap.netdev != nullptr) {
    const std::string& name = out.bootstrap.netdev->name;
    if (nccl::FormatExactList({{name, std::nullopt}}, nccl::kInterfaceListLimit).ok()) out.interface = name;
  }
  return out;
}

}  // namespace nccl_tune::policy
