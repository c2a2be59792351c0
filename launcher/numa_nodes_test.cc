// SPDX-License-Identifier: Apache-2.0
#include "launcher/numa_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::launcher {
namespace {

using ::testing::HasSubstr;

// "0: 0/0 1/0 | 1: ...": each node with CPU/core.
std::string Show(const base::Result<std::vector<NumaNode>>& nodes) {
  if (!nodes.ok()) return nodes.error().ToString();
  std::string text;
  for (const NumaNode& node : *nodes) {
    text += (text.empty() ? "" : " | ") + std::to_string(node.id) + ":";
    for (const Cpu& cpu : node.cpus) text += " " + std::to_string(cpu.id) + "/" + std::to_string(cpu.core);
  }
  return text;
}

TEST(NumaNodesTest, ReadsNodesCoresAndThreads) {
  struct Case {
    const char* machine;
    const char* nodes;
  };
  for (const Case& one : std::vector<Case>{
           {"numa:2 core:2 pu:2", "0: 0/0 1/0 2/1 3/1 | 1: 4/2 5/2 6/3 7/3"},
           {"numa:1 core:3 pu:1", "0: 0/0 1/1 2/2"},
           {"pack:2 numa:2 core:1 pu:1", "0: 0/0 | 1: 1/1 | 2: 2/2 | 3: 3/3"},
           {"core:1 pu:2", "0: 0/0 1/0"},
           {"numa:1 pu:2", "0: 0/0 1/1"},
           // A second node of memory beside the first, as of HBM.
           {"pack:1 [numa] [numa] core:2 pu:1", "0: 0/0 1/1 | 1: 0/0 1/1"},
           {"pack:2 group:2 [numa] core:2 pu:1", "0: 0/0 1/1 | 1: 2/2 3/3 | 2: 4/4 5/5 | 3: 6/6 7/7"},
           {"numa:2(indexes=3,1) core:1 pu:1(indexes=7,5)", "1: 5/0 | 3: 7/1"},
       }) {
    EXPECT_EQ(Show(MakeUpNumaNodes(one.machine)), one.nodes) << one.machine;
  }
}

TEST(NumaNodesTest, RefusesWhatIsNoMachine) {
  EXPECT_THAT(Show(MakeUpNumaNodes("")), HasSubstr("no machine is described"));
  for (const char* machine : {"x", "numa", "numa:", "numa:0", "core:-1 pu:1", "pu:1 core:1"}) {
    EXPECT_THAT(Show(MakeUpNumaNodes(machine)), HasSubstr("NUMA nodes and cores: hwloc")) << machine;
  }
}

TEST(NumaNodesTest, ReadsThisMachine) {
  const auto nodes = ReadNumaNodes();
  ASSERT_TRUE(nodes.ok()) << nodes.error().ToString();
  ASSERT_FALSE(nodes->empty());
  std::size_t cpus = 0;
  for (const NumaNode& node : *nodes) cpus += node.cpus.size();
  EXPECT_GT(cpus, 0U);
}

TEST(NumaNodesTest, LeavesPluginsOutUnlessTheUserWantsThem) {
  EXPECT_EQ(QuietPlugins({})->first, "HWLOC_PLUGINS_PATH");
  EXPECT_FALSE(QuietPlugins({{"HWLOC_PLUGINS_PATH", ""}}).has_value());
}

}  // namespace
}  // namespace nccl_tune::launcher
