// SPDX-License-Identifier: Apache-2.0
#include "core/policy/judge_site.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/facts/ip_address.h"
#include "core/facts/node.h"
#include "core/facts/pci_address.h"
#include "core/policy/site_policy.h"
#include "core/policy/test_nodes.h"

namespace nccl_tune::policy {
namespace {

facts::IpPrefix Net(std::string_view address, int length) { return {.address = Address(address), .length = length}; }

Origin At(std::string key, int line) { return {.key = std::move(key), .line = line}; }

DeviceMatcher Device() {
  return {.name = {},
          .pci = {},
          .driver = {},
          .rate = {},
          .min_rate = {},
          .subnet = {},
          .origin = At("devices.exclude[1]", 3)};
}

// The server, with a storage card and a VLAN above the rail's interface.
facts::Node MakeNode() {
  facts::Node node = MakeServer();
  node.netdevs.push_back(MakeNetdev("ens6f0", "192.168.40.7"));
  node.netdevs.push_back(MakeNetdev("ens5f1.40", "192.168.40.99", 24, facts::NetdevKind::kVlan));
  node.hcas.push_back(MakeRoce("mlx5_30", "0000:81:00.0", 100, "ens6f0", "192.168.40.7"));
  node.hcas[0].ports[0].gids.push_back(MakeGid(5, "192.168.40.99", facts::RoceVersion::kV2, "ens5f1.40"));
  return node;
}

std::string Excluded(const DeviceMatcher& matcher) {
  const facts::Node node = MakeNode();
  SitePolicy policy;
  policy.exclude_devices = {{matcher}};
  std::string out;
  for (const auto& hca : node.hcas) {
    const auto verdict = JudgeDevice(policy, hca, hca.ports[0], node);
    EXPECT_FALSE(verdict.included);
    if (verdict.rejected) out += (out.empty() ? "" : " ") + verdict.rejected->what;
  }
  return out;
}

template <typename T>
DeviceMatcher With(T DeviceMatcher::*part, T value) {
  DeviceMatcher out = Device();
  out.*part = std::move(value);
  return out;
}

TEST(JudgeSiteTest, WhatADeviceEntryMatches) {
  const auto name = [](const char* glob) { return With(&DeviceMatcher::name, std::optional<std::string>(glob)); };
  EXPECT_EQ(Excluded(name("mlx5_2")), "mlx5_2:1");
  EXPECT_EQ(Excluded(name("mlx5_3")), "");
  EXPECT_EQ(Excluded(name("mlx5_*")), "mlx5_2:1 mlx5_30:1");
  EXPECT_EQ(Excluded(name("mlx5_30:1")), "mlx5_30:1");
  EXPECT_EQ(Excluded(name("mlx5_30:2")), "");
  EXPECT_EQ(Excluded(name("*:1")), "mlx5_2:1 mlx5_30:1");
  const PciPattern bus{.domain = 0, .bus = 0x81, .device = {}, .function = {}};
  EXPECT_EQ(Excluded(With(&DeviceMatcher::pci, std::optional(bus))), "mlx5_30:1");
  const auto driver = [](const char* text) { return With(&DeviceMatcher::driver, std::optional<std::string>(text)); };
  EXPECT_EQ(Excluded(driver("mlx5_core")), "mlx5_2:1 mlx5_30:1");
  EXPECT_EQ(Excluded(driver("mlx5")), "");
  using facts::GbitPerSecond;
  EXPECT_EQ(Excluded(With(&DeviceMatcher::rate, std::optional(GbitPerSecond{25}))), "mlx5_2:1");
  EXPECT_EQ(Excluded(With(&DeviceMatcher::min_rate, std::optional(GbitPerSecond{100}))), "mlx5_30:1");
  EXPECT_EQ(Excluded(With(&DeviceMatcher::min_rate, std::optional(GbitPerSecond{25}))), "mlx5_2:1 mlx5_30:1");
  // The VLAN above mlx5_2's interface lies there too, but is not the port's own.
  EXPECT_EQ(Excluded(With(&DeviceMatcher::subnet, std::optional(Net("192.168.40.0", 24)))), "mlx5_30:1");
  EXPECT_EQ(Excluded(With(&DeviceMatcher::subnet, std::optional(Net("10.0.0.0", 24)))), "");
  DeviceMatcher both = name("mlx5_*");
  both.min_rate = GbitPerSecond{50};
  EXPECT_EQ(Excluded(both), "mlx5_30:1");
}

TEST(JudgeSiteTest, UnknownFactsMatchNothing) {
  facts::Node node = MakeNode();
  facts::Hca& hca = node.hcas[1];
  hca.pci.reset();
  hca.ports[0].rate.reset();
  hca.ports[0].netdev.reset();
  hca.ports[0].gids.clear();
  for (const DeviceMatcher& matcher : {With(&DeviceMatcher::pci, std::optional(PciPattern{})),
                                       With(&DeviceMatcher::rate, std::optional(facts::GbitPerSecond{100})),
                                       With(&DeviceMatcher::min_rate, std::optional(facts::GbitPerSecond{1})),
                                       With(&DeviceMatcher::subnet, std::optional(Net("0.0.0.0", 0)))}) {
    SitePolicy policy;
    policy.exclude_devices = {{matcher}};
    EXPECT_FALSE(JudgeDevice(policy, hca, hca.ports[0], node).rejected);
    policy.include_devices = {{matcher}};
    policy.exclude_devices.reset();
    EXPECT_TRUE(JudgeDevice(policy, hca, hca.ports[0], node).rejected);
  }
}

TEST(JudgeSiteTest, DeviceReasonsNameKeyAndLine) {
  const facts::Node node = MakeNode();
  const auto judge = [&](const SitePolicy& policy, std::size_t hca) {
    const auto verdict = JudgeDevice(policy, node.hcas[hca], node.hcas[hca].ports[0], node);
    return verdict.rejected ? "no: " + verdict.rejected->why : verdict.included ? "yes: " + verdict.why : "-";
  };
  SitePolicy policy;
  EXPECT_EQ(judge(policy, 0), "-");
  policy.exclude_devices = {{With(&DeviceMatcher::subnet, std::optional(Net("192.168.40.0", 24)))}};
  EXPECT_EQ(judge(policy, 0), "-");
  EXPECT_EQ(judge(policy, 1),
            "no: left out by the site policy, line 3: devices.exclude[1] (192.168.40.7 lies in 192.168.40.0/24)");
  DeviceMatcher include = With(&DeviceMatcher::name, std::optional<std::string>("mlx5_*"));
  include.origin = At("when[2].devices.include[1]", 9);
  policy.include_devices = {{include}};
  EXPECT_EQ(judge(policy, 0), "yes: named by the site policy, line 9: when[2].devices.include[1]");
  EXPECT_EQ(judge(policy, 1),
            "no: left out by the site policy, line 3: devices.exclude[1] (192.168.40.7 lies in 192.168.40.0/24)");
  policy.exclude_devices.reset();
  policy.include_devices->front().name = "mlx5_2";
  EXPECT_EQ(judge(policy, 1), "no: does not match the entry of the site policy, line 9: when[2].devices.include");
  policy.include_devices->push_back(policy.include_devices->front());
  EXPECT_EQ(judge(policy, 1), "no: does not match any entry of the site policy, line 9: when[2].devices.include");
  policy.include_devices->clear();
  EXPECT_EQ(judge(policy, 1), "-");
}

InterfaceMatcher Interface(std::optional<std::string> name, std::optional<facts::IpPrefix> subnet) {
  return {.name = std::move(name), .subnet = subnet, .origin = At("interfaces.exclude[1]", 5)};
}

std::string LeftOut(const SitePolicy& policy) {
  const facts::Node node = MakeNode();
  std::string out;
  for (const auto& netdev : node.netdevs) {
    const auto verdict = JudgeInterface(policy, netdev);
    if (verdict.rejected) out += (out.empty() ? "" : " ") + verdict.rejected->what;
  }
  return out;
}

TEST(JudgeSiteTest, Interfaces) {
  SitePolicy policy;
  EXPECT_EQ(LeftOut(policy), "");
  policy.exclude_interfaces = {{Interface("ens5*", {})}};
  EXPECT_EQ(LeftOut(policy), "ens5f1 ens5f1.40");
  policy.exclude_interfaces = {{Interface({}, Net("192.168.0.0", 16))}};
  EXPECT_EQ(LeftOut(policy), "ens6f0 ens5f1.40");
  policy.exclude_interfaces = {{Interface("ens6*", Net("10.0.0.0", 8))}};
  EXPECT_EQ(LeftOut(policy), "");
  policy.exclude_interfaces = {{Interface("*", {})}};
  EXPECT_EQ(LeftOut(policy), "eno1 ens5f1 ens6f0 ens5f1.40");  // never lo
  policy.exclude_interfaces.reset();
  policy.include_interfaces = {{Interface("eno1", {})}};
  EXPECT_EQ(LeftOut(policy), "ens5f1 ens6f0 ens5f1.40");
  EXPECT_TRUE(JudgeInterface(policy, MakeNode().netdevs[1]).included);
}

std::string BootstrapBy(std::variant<std::string, facts::IpPrefix> value, const facts::Node& node,
                        SitePolicy policy = {}) {
  policy.bootstrap = {.value = std::move(value), .origin = At("bootstrap", 2)};
  const auto found = FindSiteBootstrap(policy, node);
  return (found->netdev == nullptr ? "none" : found->netdev->name) + ": " + found->reason;
}

TEST(JudgeSiteTest, Bootstrap) {
  facts::Node node = MakeNode();
  EXPECT_FALSE(FindSiteBootstrap({}, node));
  EXPECT_EQ(BootstrapBy("eno1", node), "eno1: named by the site policy, line 2: bootstrap");
  EXPECT_EQ(BootstrapBy(Net("172.20.0.0", 16), node),
            "ens5f1: its address 172.20.0.11 lies in 172.20.0.0/16, named by the site policy, line 2: bootstrap");
  EXPECT_EQ(BootstrapBy("eth0", node),
            "none: site policy, line 2: bootstrap names eth0, which this node does not have");
  EXPECT_EQ(BootstrapBy("eno", node), "none: site policy, line 2: bootstrap names eno, which this node does not have");
  EXPECT_EQ(BootstrapBy("lo", node), "none: site policy, line 2: bootstrap names lo, which has no routable address");
  EXPECT_EQ(BootstrapBy(Net("127.0.0.0", 8), node),
            "none: site policy, line 2: bootstrap names 127.0.0.0/8, in which no interface that may be used has an "
            "address");
  EXPECT_EQ(BootstrapBy(Net("10.9.0.0", 16), node),
            "none: site policy, line 2: bootstrap names 10.9.0.0/16, in which no interface that may be used has an "
            "address");
  SitePolicy without;
  without.exclude_interfaces = {{Interface("ens6f0", {})}};
  EXPECT_EQ(BootstrapBy(Net("192.168.40.0", 24), node, without).substr(0, 9), "ens5f1.40");
  node.netdevs[1].running = false;
  EXPECT_EQ(BootstrapBy("eno1", node), "none: site policy, line 2: bootstrap names eno1, which is down");
  EXPECT_EQ(BootstrapBy(Net("10.0.0.0", 24), node).substr(0, 5), "none:");
}

}  // namespace
}  // namespace nccl_tune::policy
