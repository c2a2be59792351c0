// SPDX-License-Identifier: Apache-2.0
#include "launcher/visible_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ids = std::vector<std::string>;

constexpr const char* kUuid = "GPU-de94b31a-629a-c878-7254-02d27762e634";

facts::Node NodeOf(int gpus, facts::GpuVendor vendor = facts::GpuVendor::kNvidia) {
  facts::Node node;
  for (int i = 0; i < gpus; ++i) {
    facts::Gpu gpu{};
    gpu.pci.bus = static_cast<std::uint8_t>(i + 1);
    gpu.vendor = vendor;
    node.gpus.push_back(gpu);
  }
  return node;
}

// Rows of one device and no MIG are as CUDA answers on an H200.
TEST(VisibleGpusTest, ReadsAListAsCudaDoes) {
  const std::string uuid = kUuid;
  struct Case {
    std::string text;
    std::size_t devices;
    Ids ids;
  };
  for (const Case& one : std::vector<Case>{
           {"0", 1, {"0"}},
           {"0,1,2,3", 4, {"0", "1", "2", "3"}},
           {"3,1", 4, {"3", "1"}},
           {" 0", 1, {"0"}},
           {"\t0 ", 1, {"0"}},
           {"+0", 1, {"0"}},
           {"00", 1, {"0"}},
           {"0x0", 1, {"0"}},
           {"0a", 1, {"0"}},
           {"0.5", 1, {"0"}},
           {"0;1", 2, {"0"}},
           {"0 0", 1, {"0"}},
           {"0,", 1, {"0"}},
           {"0,,1", 2, {"0"}},
           {"0,-1", 1, {"0"}},
           {"0,-1,1", 2, {"0"}},
           {"0,a", 1, {"0"}},
           {"0 ,x", 1, {"0"}},
           {"0,1", 1, {"0"}},
           {"0,9,1", 8, {"0"}},
           {uuid, 1, {uuid}},
           {"GPU-de94", 1, {"GPU-de94"}},
           {"GPU-DE94B31A", 1, {"GPU-DE94B31A"}},
           {uuid + " ", 1, {uuid}},
           {uuid + ",0", 1, {uuid}},
           {"0," + uuid, 1, {"0"}},
           {uuid + ",NoDevFiles", 1, {uuid}},
           {"GPU-a,GPU-b", 2, {"GPU-a", "GPU-b"}},
           {"MIG-1a,MIG-2b", 1, {"MIG-1a", "MIG-2b"}},
           {"MIG-GPU-1a/1/0,MIG-GPU-1a/2/0", 1, {"MIG-GPU-1a/1/0", "MIG-GPU-1a/2/0"}},
       }) {
    const auto ids = ParseVisibleList(one.text, one.devices);
    ASSERT_TRUE(ids.ok()) << one.text << ids.error().ToString();
    EXPECT_EQ(*ids, one.ids) << one.text;
  }
  EXPECT_THAT(*ParseVisibleList("0,99", std::nullopt), ElementsAre("0", "99"));
}

TEST(VisibleGpusTest, SeesNoGpuInAListThatBeginsBadly) {
  for (const std::string text : {"",
                                 "-1",
                                 "-1,0",
                                 "1,0",
                                 "a,0",
                                 ",0",
                                 " ",
                                 "NoDevFiles",
                                 "all",
                                 "none",
                                 "void",
                                 "GPU-",
                                 "MIG-",
                                 "gpu-de94b31a",
                                 " GPU-de94b31a",
                                 "de94b31a-629a",
                                 "GPU",
                                 "-",
                                 "+",
                                 "+-0",
                                 "--1",
                                 "99999999999999999999",
                                 "4294967296",
                                 "\x01",
                                 "\xff",
                                 "GPU- 1",
                                 ";0",
                                 "#0",
                                 "'0'"}) {
    const auto ids = ParseVisibleList(text, 1);
    ASSERT_TRUE(ids.ok()) << text;
    EXPECT_THAT(*ids, IsEmpty()) << text;
  }
}

TEST(VisibleGpusTest, RefusesAGpuNamedTwice) {
  const std::string uuid = kUuid;
  for (const std::string& text : Ids{"0,0", "1,0,1", "0,00", "0,+0", uuid + "," + uuid, uuid + ",GPU-DE94",
                                     "GPU-d,GPU-de", "MIG-1,MIG-1", "0,1,2,3,0,x"}) {
    const auto ids = ParseVisibleList(text, 4);
    ASSERT_FALSE(ids.ok()) << text;
    EXPECT_THAT(ids.error().ToString(), HasSubstr("names a GPU twice")) << text;
  }
  const auto named = FindVisibleGpus({{"CUDA_VISIBLE_DEVICES", "2,2"}}, NodeOf(8));
  ASSERT_FALSE(named.ok());
  EXPECT_EQ(
      named.error().ToString(),
      "CUDA_VISIBLE_DEVICES: names a GPU twice, so that no program can use any: got \"2\", expected each GPU once");
}

TEST(VisibleGpusTest, FindsTheListThatIsInForce) {
  constexpr auto kAmd = facts::GpuVendor::kAmd;
  struct Case {
    Environment environment;
    facts::Node node;
    Ids ids;
    const char* variable;
    const char* source;
    Ids counting;
  };
  for (const Case& one : std::vector<Case>{
           {{}, NodeOf(2), {"0", "1"}, "CUDA_VISIBLE_DEVICES", "the devices of this node", {}},
           {{}, NodeOf(2, kAmd), {"0", "1"}, "ROCR_VISIBLE_DEVICES", "the devices of this node", {}},
           {{}, NodeOf(0), {}, "CUDA_VISIBLE_DEVICES", "the devices of this node", {}},
           {{{"CUDA_VISIBLE_DEVICES", "1"}}, NodeOf(2), {"1"}, "CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", {}},
           {{{"CUDA_VISIBLE_DEVICES", ""}, {"SLURM_STEP_GPUS", "1"}},
            NodeOf(2),
            {},
            "CUDA_VISIBLE_DEVICES",
            "CUDA_VISIBLE_DEVICES",
            {}},
           {{{"CUDA_VISIBLE_DEVICES", "1"}, {"ROCR_VISIBLE_DEVICES", "0"}},
            NodeOf(2),
            {"1"},
            "CUDA_VISIBLE_DEVICES",
            "CUDA_VISIBLE_DEVICES",
            {}},
           {{{"SLURM_STEP_GPUS", "2,3"}, {"SLURM_GPUS_ON_NODE", "4"}},
            NodeOf(4),
            {"2", "3"},
            "CUDA_VISIBLE_DEVICES",
            "SLURM_STEP_GPUS",
            {}},
           {{{"SLURM_GPUS_ON_NODE", "2"}}, NodeOf(0), {"0", "1"}, "CUDA_VISIBLE_DEVICES", "SLURM_GPUS_ON_NODE", {}},
           {{{"SLURM_GPUS_ON_NODE", "0"}}, NodeOf(2), {}, "CUDA_VISIBLE_DEVICES", "SLURM_GPUS_ON_NODE", {}},
           {{{"ROCR_VISIBLE_DEVICES", "3,2"}},
            NodeOf(4, kAmd),
            {"3", "2"},
            "ROCR_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES",
            {}},
           {{{"HIP_VISIBLE_DEVICES", "3"}}, NodeOf(4, kAmd), {"3"}, "HIP_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", {}},
           {{{"CUDA_VISIBLE_DEVICES", "3"}},
            NodeOf(4, kAmd),
            {"3"},
            "CUDA_VISIBLE_DEVICES",
            "CUDA_VISIBLE_DEVICES",
            {}},
           {{{"HIP_VISIBLE_DEVICES", "3"}}, NodeOf(0), {"3"}, "HIP_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", {}},
           {{{"ROCR_VISIBLE_DEVICES", "4,5,6"}, {"HIP_VISIBLE_DEVICES", "2,0,9"}},
            NodeOf(8, kAmd),
            {"6", "4"},
            "ROCR_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES",
            {"HIP_VISIBLE_DEVICES"}},
           {{{"ROCR_VISIBLE_DEVICES", "4,5"}, {"CUDA_VISIBLE_DEVICES", "0,1"}},
            NodeOf(8, kAmd),
            {"4", "5"},
            "ROCR_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES",
            {"CUDA_VISIBLE_DEVICES"}},
       }) {
    const auto gpus = FindVisibleGpus(one.environment, one.node);
    ASSERT_TRUE(gpus.ok()) << one.source << gpus.error().ToString();
    EXPECT_EQ(gpus->ids, one.ids) << one.source;
    EXPECT_EQ(gpus->variable, one.variable) << one.source;
    EXPECT_EQ(gpus->source, one.source);
    EXPECT_EQ(gpus->counting, one.counting) << one.source;
  }
}

TEST(VisibleGpusTest, RefusesACountThatIsNone) {
  for (const char* text : {"", "-1", "x", "1.5", "4294967296", " 1", "1 ", "1025"}) {
    const auto gpus = FindVisibleGpus({{"SLURM_GPUS_ON_NODE", text}}, NodeOf(2));
    ASSERT_FALSE(gpus.ok()) << text;
    EXPECT_THAT(gpus.error().ToString(), HasSubstr("SLURM_GPUS_ON_NODE: not a number of GPUs")) << text;
  }
}

TEST(VisibleGpusTest, GivesANodeARankForEachGpu) {
  EXPECT_EQ(*RanksForGpus(*FindVisibleGpus({{"CUDA_VISIBLE_DEVICES", "4,5,6"}}, NodeOf(8))), 3);
  EXPECT_EQ(*RanksForGpus(*FindVisibleGpus({}, NodeOf(8))), 8);
  const auto none = RanksForGpus(*FindVisibleGpus({{"CUDA_VISIBLE_DEVICES", "-1"}}, NodeOf(8)));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().ToString(),
            "--procs-per-node gpu: this node has no GPU for a rank, by CUDA_VISIBLE_DEVICES. Ask Slurm for GPUs "
            "(--gpus-per-node), or give a number: --procs-per-node 8");
  EXPECT_THAT(RanksForGpus(*FindVisibleGpus({}, NodeOf(0))).error().ToString(),
              HasSubstr("by the devices of this node"));
}

TEST(VisibleGpusTest, TellsGpusOfATasksOwn) {
  const VisibleGpus two{.ids = {"0", "1"}};
  EXPECT_TRUE(SeesOwnGpusOnly({{"SLURM_GPUS_ON_NODE", "8"}}, two));
  EXPECT_FALSE(SeesOwnGpusOnly({{"SLURM_GPUS_ON_NODE", "2"}}, two));
  EXPECT_FALSE(SeesOwnGpusOnly({{"SLURM_GPUS_ON_NODE", "x"}}, two));
  EXPECT_FALSE(SeesOwnGpusOnly({}, two));
}

TEST(VisibleGpusTest, FindsTheNumberOnTheNode) {
  struct Case {
    const char* visible;
    const char* step;  // SLURM_STEP_GPUS
    const char* id;
    std::optional<std::size_t> number;
  };
  for (const Case& one : std::vector<Case>{
           {"4,5", "4,5", "5", 5},   // node-wide
           {"0,1", "4,5", "1", 5},   // in a cgroup
           {"0,1", "5,4", "0", 4},   // there in order of the devices
           {"0", "7", "0", 7},       // a GPU for each task
           {"1", "4,5", "1", 5},     // narrowed by the user
           {"2", "4,5", "2", {}},    // no such one
           {"0,1", "", "1", 1},      // no list
           {"0,1", "junk", "1", 1},  // none to understand
           {"0,1", "4,4", "1", 1},   // nor this one
           {"9", "", "9", {}},       // out of range
           {"GPU-a", "4", "GPU-a", {}},
           {"-1", "4", "-1", {}},
       }) {
    const VisibleGpus gpus{.ids = *ParseVisibleList(one.visible, std::nullopt)};
    EXPECT_EQ(NumberOnNode(one.id, gpus, {{"SLURM_STEP_GPUS", one.step}}, 8), one.number) << one.visible << one.step;
  }
  EXPECT_EQ(NumberOnNode("3", VisibleGpus{.ids = {"3"}}, {}, 8), 3U);
}

}  // namespace
}  // namespace nccl_tune::launcher
