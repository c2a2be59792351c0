// SPDX-License-Identifier: Apache-2.0
#include "report/policy_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/facts/ip_address.h"
#include "core/policy/host_list.h"
#include "core/policy/site_policy.h"

namespace nccl_tune::report {
namespace {

using policy::Stated;

Stated<std::string> Say(std::string text) { return {.value = std::move(text), .origin = {}}; }

TEST(PolicyTextTest, NothingSaid) { EXPECT_EQ(PolicyText({}), "Everywhere\n  nothing\n"); }

TEST(PolicyTextTest, EverySubject) {
  policy::SiteFile file;
  policy::SitePolicy& keys = file.keys;
  keys.mode = {.value = policy::SiteMode::kDryRun, .origin = {}};
  keys.gid_index = {.value = policy::GidIndexRule::kAuto, .origin = {}};
  keys.bootstrap = {.value = facts::IpPrefix{.address = *facts::ParseIpAddress("10.0.0.0"), .length = 8}, .origin = {}};
  keys.include_devices.emplace(2);
  keys.exclude_devices.emplace(1);
  keys.include_interfaces.emplace();
  keys.tc = {.value = 106, .origin = {}};
  keys.fifo_tc = {.value = 104, .origin = {}};
  keys.allow = {{Say("NCCL_*"), Say("GLOO_SOCKET_IFNAME")}};
  keys.deny.emplace();
  keys.set["NCCL_NET"] = Say("IB");
  keys.set["NCCL_IB_TIMEOUT"] = Say("22");
  keys.profiles["empty"];
  policy::SiteOverride block;
  block.origin.line = 30;
  block.condition.partitions = {"gpu", "debug"};
  block.condition.features = {"ib"};
  const auto nodes = policy::ParseHostList("node[01-16]");
  if (nodes.ok()) block.condition.nodes = *nodes;
  block.keys.bootstrap = {.value = std::string("eno1"), .origin = {}};
  file.when = {block, block};
  file.when[1].keys = {};
  file.when[1].condition = {};
  file.when[1].condition.features = {"x"};
  EXPECT_EQ(PolicyText(file),
            "Everywhere\n"
            "  mode           dry-run\n"
            "  gid_index      auto\n"
            "  bootstrap      the interface in 10.0.0.0/8\n"
            "  devices        only what 2 entries name, without what 1 entry names\n"
            "  interfaces     no limit\n"
            "  traffic class  tc 106, fifo_tc 104\n"
            "  may be set     NCCL_*, GLOO_SOCKET_IFNAME\n"
            "  never set      none\n"
            "  set            NCCL_IB_TIMEOUT=22, NCCL_NET=IB\n"
            "  profile        empty: nothing\n"
            "\n"
            "Where partition gpu or debug, feature ib, nodes node[01-16] (line 30)\n"
            "  bootstrap      eno1\n"
            "\n"
            "Where feature x (line 30)\n"
            "  nothing\n");
}

}  // namespace
}  // namespace nccl_tune::report
