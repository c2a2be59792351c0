// SPDX-License-Identifier: Apache-2.0
#include "core/env/without_us.h"

#include <gtest/gtest.h>

#include <string>

#include "core/policy/test_nodes.h"

namespace nccl_tune::env {
namespace {

std::string Show(const WithoutUs& got) {
  std::string out;
  for (const auto& port : got.ports) out += (out.empty() ? "" : " | ") + port;
  return out + got.no_ports + " / " + got.interface;
}

std::string Predict(const facts::Node& node, const base::Environment& user, const nccl::NcclVersion& version) {
  return Show(PredictWithoutUs(node, user, version));
}

TEST(WithoutUsTest, Predicts) {
  constexpr nccl::NcclVersion kNew{2, 28, 9};
  constexpr nccl::NcclVersion kOld{2, 20, 5};
  facts::Node ib = policy::MakeServer();
  ib.hcas = {policy::MakeIb("mlx5_0", "0000:01:00.0", 400)};
  facts::Node down = policy::MakeServer();
  down.hcas[0].ports[0].state = facts::PortState::kDown;
  const struct {
    facts::Node node;
    base::Environment user;
    nccl::NcclVersion version;
    const char* shown;
  } rows[] = {
      {policy::MakeServer(), {}, kNew, "mlx5_2:1 with GID 3, 172.20.0.11 / eno1, 10.0.0.11"},
      {policy::MakeServer(), {}, kOld, "mlx5_2:1 with GID 0, fe80::5eff:fe00:1 (RoCE v1) / eno1, 10.0.0.11"},
      {policy::MakeServer(),
       {{"NCCL_IB_GID_INDEX", "9"}},
       kNew,
       "mlx5_2:1 with GID 9, an empty entry / eno1, 10.0.0.11"},
      {policy::MakeServer(), {{"NCCL_IB_DISABLE", "1"}}, kNew, "NCCL_IB_DISABLE turns it off / eno1, 10.0.0.11"},
      {policy::MakeServer(),
       {{"NCCL_SOCKET_IFNAME", "=ens5f1"}},
       kNew,
       "mlx5_2:1 with GID 3, 172.20.0.11 / ens5f1, 172.20.0.11"},
      {ib, {}, kNew, "mlx5_0:1 / eno1, 10.0.0.11"},
      {down, {}, kNew, "no port is usable / eno1, 10.0.0.11"},
  };
  for (const auto& row : rows) EXPECT_EQ(Predict(row.node, row.user, row.version), row.shown);
  EXPECT_TRUE(PredictWithoutUs(policy::MakeServer(), {{"NCCL_COMM_ID", "host:1234"}}, kNew).interface_unknown);
  const auto nothing = PredictWithoutUs(facts::Node{}, {}, kNew);
  EXPECT_EQ(nothing.interface, "");
  EXPECT_FALSE(nothing.interface_reason.empty());
  EXPECT_FALSE(nothing.no_ports.empty());
}

}  // namespace
}  // namespace nccl_tune::env
