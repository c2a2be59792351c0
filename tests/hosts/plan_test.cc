// SPDX-License-Identifier: Apache-2.0
//
// The plan of each machine of the first scene is what an engineer typed there by hand, and the variables that must
// agree.
#include "core/env/plan.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/hosts/replay.h"

namespace nccl_tune::hosts {
namespace {

TEST(PlanTest, WhatWasTypedByHand) {
  const env::Environment expected = {{"NCCL_IB_HCA", "=mlx5_1:1"},       {"NCCL_IB_GID_INDEX", "3"},
                                     {"NCCL_SOCKET_IFNAME", "=ens11f1"}, {"GLOO_SOCKET_IFNAME", "ens11f1"},
                                     {"TP_SOCKET_IFNAME", "ens11f1"},    {"NVSHMEM_HCA_LIST", "mlx5_1:1"},
                                     {"NVSHMEM_IB_GID_INDEX", "3"}};
  const struct {
    const char* name;
    const char* address;
  } rows[] = {{"server1", "172.16.0.11"}, {"server2", "172.16.0.12"}, {"server3", "172.16.0.13"}};
  for (const auto& row : rows) {
    const auto got = ReplayCapture("tests/hosts", row.name);
    ASSERT_TRUE(got.ok()) << got.error().ToString();
    EXPECT_EQ(got->plan.node, row.name);
    EXPECT_EQ(env::ValuesOf(got->plan), expected) << row.name;
    EXPECT_EQ(got->plan.interface, "ens11f1") << row.name;
    EXPECT_EQ(got->plan.address, row.address) << row.name;
    for (const auto& setting : got->plan.settings) EXPECT_FALSE(setting.decision.reason.empty()) << row.name;
  }
}

}  // namespace
}  // namespace nccl_tune::hosts
