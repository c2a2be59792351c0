// SPDX-License-Identifier: Apache-2.0
#include "core/policy/steer_gid.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/policy/test_nodes.h"

namespace nccl_tune::policy {
namespace {

using facts::RoceVersion;
using Table = std::vector<facts::Gid>;

facts::Gid V1(int index, const char* address) { return MakeGid(index, address, RoceVersion::kV1, "ens0"); }
facts::Gid V2(int index, const char* address) { return MakeGid(index, address, RoceVersion::kV2, "ens0"); }

// One port a table; the right entry is the one at the index that stands beside it.
struct Port {
  Table table;
  int right;
};

std::string Show(const GidSteering& steering) {
  const char* means[] = {"not needed", "index", "automatic", "address", "none"};
  std::string out = means[static_cast<int>(steering.means)];
  if (steering.index) out += " " + std::to_string(*steering.index);
  if (steering.ipv6) out += " AF_INET6";
  if (steering.range) out += " " + steering.range->ToString();
  return out;
}

std::string Steer(const std::vector<Port>& ports, bool pin) {
  std::vector<facts::Hca> hcas;
  for (const auto& port : ports) {
    hcas.push_back(MakeRoce("mlx5_0", "0000:01:00.0", 100, "ens0", "10.0.0.1"));
    hcas.back().ports[0].gids = port.table;
  }
  std::vector<PortRef> refs;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    refs.push_back({.hca = &hcas[i], .port = hcas[i].ports.data()});
    for (const auto& gid : refs.back().port->gids) {
      if (gid.index == ports[i].right) refs.back().gid = &gid;
    }
  }
  const auto got = SteerGid(refs, pin);
  EXPECT_FALSE(got.reason.empty());
  EXPECT_FALSE(got.reason.ends_with('.'));
  return Show(got);
}

TEST(SteerGidTest, Tables) {
  const Table usual{V1(0, "fe80::1"), V2(1, "fe80::1"), V1(2, "10.0.0.1"), V2(3, "10.0.0.1")};
  const Table drifted{V1(0, "fe80::1"), V2(1, "fe80::1"), V1(4, "10.0.1.1"), V2(5, "10.0.1.1")};
  const Table v6{V1(0, "fe80::1"), V2(1, "fe80::1"), V1(2, "fd02::1"), V2(3, "fd02::1")};
  const Table v6_drifted{V1(0, "fe80::1"), V2(1, "fe80::1"), V1(4, "fd02:0:0:1::1"), V2(5, "fd02:0:0:1::1")};
  const Table vlan_first{V1(0, "fe80::1"), V2(1, "fe80::1"), V2(2, "192.168.5.1"), V2(3, "10.0.0.1")};
  const Table vlan_later{V1(0, "fe80::1"), V2(1, "fe80::1"), V2(3, "192.168.5.2"), V2(5, "10.0.0.2")};
  const Table apipa{V1(0, "fe80::1"), V1(2, "169.254.3.4"), V2(3, "169.254.3.4"), V1(4, "10.0.0.3"), V2(5, "10.0.0.3")};
  const Table zero_wrong{V2(0, "192.168.5.3"), V2(1, "10.0.0.4")};
  const struct {
    const char* what;
    std::vector<Port> ports;
    const char* pinned;
    const char* unpinned;
  } rows[] = {
      {"no port", {}, "not needed", "not needed"},
      {"one port", {{usual, 3}}, "index 3", "automatic"},
      {"two, one index", {{usual, 3}, {usual, 3}}, "index 3", "automatic"},
      {"two indices", {{usual, 3}, {drifted, 5}}, "automatic", "automatic"},
      {"IPv6", {{v6, 3}}, "index 3", "address AF_INET6"},
      {"IPv6, two indices", {{v6, 3}, {v6_drifted, 5}}, "address AF_INET6", "address AF_INET6"},
      {"another network first", {{vlan_first, 3}}, "index 3", "address 10.0.0.1/32"},
      {"another network first, two indices",
       {{vlan_first, 3}, {vlan_later, 5}},
       "address 10.0.0.0/30",
       "address 10.0.0.0/30"},
      {"169.254 first, two indices", {{usual, 3}, {apipa, 5}}, "address 10.0.0.0/30", "address 10.0.0.0/30"},
      {"index 0 holds the wrong network", {{zero_wrong, 1}}, "index 1", "index 1"},
      {"index 0 holds the wrong network, two indices", {{zero_wrong, 1}, {usual, 3}}, "none", "none"},
      {"IPv4 and IPv6", {{usual, 3}, {v6_drifted, 5}}, "none", "none"},
      {"IPv4 and IPv6 at one index", {{usual, 3}, {v6, 3}}, "index 3", "index 3"},
      {"networks that one prefix holds only with the wrong ones", {{vlan_first, 2}, {vlan_later, 5}}, "none", "none"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Steer(row.ports, true), row.pinned) << row.what;
    EXPECT_EQ(Steer(row.ports, false), row.unpinned) << row.what;
  }
}

TEST(SteerGidTest, InfiniBandNeedsNone) {
  const auto hca = MakeIb("mlx5_0", "0000:01:00.0", 400);
  EXPECT_EQ(SteerGid({{.hca = &hca, .port = hca.ports.data()}}, true).reason, "InfiniBand ports need none");
  EXPECT_EQ(SteerGid({}, true).reason, "no port is selected");
}

}  // namespace
}  // namespace nccl_tune::policy
