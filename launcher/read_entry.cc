// SPDX-License-Identifier: Apache-2.0
#include "launcher/read_entry.h"

#include <algorithm>

#include "base/parse_number.h"
#include "base/version.h"
#include "core/env/plan.h"
#include "core/nccl/nccl_version.h"
#include "core/policy/site_policy.h"
#include "core/policy/situation.h"
#include "hw/find_nccl.h"
#include "hw/read_gpu_driver.h"
#include "hw/read_node.h"
#include "launcher/rank_list.h"
#include "site/read_job.h"
#include "site/read_policy.h"

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using Notes = std::vector<facts::Note>;

std::optional<env::PlanSummary> ReadPlan(const Environment& environment) {
  const auto text = base::Lookup(environment, env::kPlanVariable);
  if (!text) return std::nullopt;
  auto plan = env::ParsePlan(*text);
  return plan.ok() ? std::optional(std::move(plan).value()) : std::nullopt;
}

// What the rules would take, for a node without a plan.
std::vector<env::PlanPort> SelectedPorts(const facts::Node& node) {
  std::vector<env::PlanPort> out;
  for (const auto& ref : policy::Assess(node).selection.ports) {
    env::PlanPort port;
    port.hca = ref.hca->name;
    port.port = ref.port->number;
    port.link = ref.IsEthernet() ? "Ethernet" : "InfiniBand";
    if (ref.port->rate) port.gbps = ref.port->rate->value;
    port.netdev = ref.port->netdev;
    if (ref.gid != nullptr) port.gid = ref.gid->index;
    out.push_back(std::move(port));
  }
  return out;
}

std::string RanksOf(const pmix::Step& step, const Environment& environment) {
  const auto gtids = base::Lookup(environment, "SLURM_GTIDS");
  auto ranks = gtids ? RankListOf(*gtids) : base::Result<std::string>(std::to_string(step.rank));
  return std::move(ranks).value_or(std::to_string(step.rank));
}

std::optional<std::uint32_t> GpusOf(const facts::Node& node, const Environment& environment) {
  const auto granted = base::ParseInteger<std::uint32_t>(base::Lookup(environment, "SLURM_GPUS_ON_NODE").value_or(""));
  if (granted.ok()) return *granted;
  return static_cast<std::uint32_t>(node.gpus.size());
}

// A site's policy holds for an agreement as for a plan: what it does not let be set stays as it is. A class that it
// states is its own business.
void KeepToPolicy(const policy::SitePolicy& site, Changeable* changeable) {
  const auto may = [&](std::string_view variable) { return policy::MaySet(site, variable); };
  changeable->gid = changeable->gid && may("NCCL_IB_GID_INDEX") && may("NCCL_IB_ADDR_FAMILY");
  const bool stated =
      site.tc || site.fifo_tc || site.set.contains("NCCL_IB_TC") || site.set.contains("NCCL_IB_FIFO_TC");
  changeable->traffic_class = changeable->traffic_class && !stated && may("NCCL_IB_TC") && may("NCCL_IB_FIFO_TC");
  changeable->rails = changeable->rails && !site.set.contains("NCCL_IB_HCA");
  changeable->interface = changeable->interface && !site.bootstrap && !site.set.contains("NCCL_SOCKET_IFNAME");
}

// Where the plan means to meet the others, when its address is this node's: a plan may be another node's.
void DescribeMeeting(const facts::Node& node, const env::PlanSummary& plan, NodeEntry* entry) {
  if (!entry->changeable.interface || !plan.address) return;
  for (const auto& netdev : node.netdevs) {
    for (const auto& one : netdev.addresses) {
      if (one.prefix.address.ToString() != *plan.address) continue;
      entry->network = one.prefix.Network().ToString();
      entry->on_rail = std::any_of(plan.ports.begin(), plan.ports.end(),
                                   [&](const auto& port) { return port.netdev && port.netdev == plan.interface; });
      return;
    }
  }
}

}  // namespace

OwnNode ReadOwnNode(const hw::Tree& tree, const hw::IpFacts& ip, const pmix::Step& step,
                    const Environment& environment) {
  Notes notes;
  OwnNode out;
  NodeEntry& entry = out.entry;
  entry.node = step.node;
  entry.node_id = step.node_id;
  entry.ranks = RanksOf(step, environment);
  entry.version = std::string(base::kVersion);
  const auto plan = ReadPlan(environment);
  const auto settings = site::ReadSettings(tree, environment, nccl::kAssumedVersion, &notes);
  DescribeSettings(settings, plan ? &*plan : nullptr, &entry);
  const site::Place place{.node = step.node, .partition = site::PartitionOf(environment), .slurm_conf = ""};
  KeepToPolicy(site::ResolveAt(tree, site::ReadPolicy(tree, &notes), place, &notes), &entry.changeable);
  const auto library = hw::FindNcclByName(tree, environment, &notes);
  if (library) entry.nccl = library->version;
  auto driver = hw::ReadGpuDriver(tree, &notes);
  entry.driver = std::move(driver.version);
  entry.gpu_model = std::move(driver.model);
  auto node = hw::ReadNode(tree, ip, std::nullopt);
  if (!node.ok()) return out;
  out.node = std::move(node).value();
  entry.gpus = GpusOf(out.node, environment);
  const auto ports = plan ? plan->ports : SelectedPorts(out.node);
  entry.rails = DescribeRails(out.node, ports);
  entry.layout = DescribeLayout(out.node, ports);
  if (plan) DescribeMeeting(out.node, *plan, &entry);
  return out;
}

}  // namespace nccl_tune::launcher
