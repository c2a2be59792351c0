// SPDX-License-Identifier: Apache-2.0
#include "core/policy/transports.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace nccl_tune::policy {
namespace {

std::optional<Evidence> FindNetdev(const facts::Node& node, std::string_view driver) {
  const auto found = std::find_if(node.netdevs.begin(), node.netdevs.end(),
                                  [&](const auto& netdev) { return netdev.driver.starts_with(driver); });
  if (found == node.netdevs.end()) return std::nullopt;
  return Evidence{"sys/class/net/" + found->name + "/device/driver", found->driver};
}

std::optional<Evidence> FindHca(const facts::Node& node, std::string_view driver) {
  const auto found =
      std::find_if(node.hcas.begin(), node.hcas.end(), [&](const auto& hca) { return hca.driver == driver; });
  if (found == node.hcas.end()) return std::nullopt;
  return Evidence{"sys/class/infiniband/" + found->name + "/device/driver", found->driver};
}

bool HasRoce(const facts::Node& node) {
  return std::any_of(node.hcas.begin(), node.hcas.end(), [](const facts::Hca& hca) {
    return std::any_of(hca.ports.begin(), hca.ports.end(),
                       [](const facts::IbPort& port) { return port.link_layer == facts::LinkLayer::kEthernet; });
  });
}

}  // namespace

std::vector<Transport> RecognizeTransports(const facts::Node& node) {
  std::vector<Transport> out;
  if (auto efa = FindHca(node, "efa")) {
    out.push_back({"AWS EFA", *std::move(efa),
                   "the plugin aws-ofi-nccl carries the traffic and reads no NCCL_IB variable; without it NCCL goes on "
                   "over sockets"});
  }
  if (auto gve = FindNetdev(node, "gve"); gve && !node.gpus.empty()) {
    const bool roce = HasRoce(node);
    out.push_back({roce ? "Google gIB" : "Google GPUDirect-TCPX", *std::move(gve),
                   roce
                       ? "the plugin gIB, where the image has it, brings an environment of its own; source that in the "
                         "job, its values win over ours"
                       : "the plugin TCPX or TCPXO, where the image has it, brings an environment of its own; source "
                         "that in the job, its values win over ours; without it NCCL goes on over sockets"});
  }
  if (auto cxi = FindNetdev(node, "cxi")) {
    out.push_back({"HPE Slingshot", *std::move(cxi),
                   "the plugin aws-ofi-nccl over libfabric carries the traffic; without it NCCL goes on over sockets"});
  }
  return out;
}

}  // namespace nccl_tune::policy
