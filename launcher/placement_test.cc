// SPDX-License-Identifier: Apache-2.0
#include "launcher/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using ::testing::HasSubstr;

std::vector<int> AllCpus(const NodeView& view) {
  std::vector<int> all;
  for (const NumaNode& node : view.numa_nodes) {
    for (const Cpu& cpu : node.cpus) all.push_back(cpu.id);
  }
  return all;
}

// `nodes` NUMA nodes of `cores` cores; a second thread of each core after the first threads of all, as Intel and AMD
// number them. GPU i of `gpus` on NUMA node i * nodes / gpus.
NodeView Machine(int nodes, int cores, int gpus, bool hyperthreads) {
  NodeView view{.gpu_variable = "CUDA_VISIBLE_DEVICES"};
  for (int n = 0; n < nodes; ++n) {
    NumaNode node{.id = n};
    for (int c = n * cores; c < (n + 1) * cores; ++c) {
      node.cpus.push_back({.id = c, .core = c});
      if (hyperthreads) node.cpus.push_back({.id = c + nodes * cores, .core = c});
    }
    view.numa_nodes.push_back(node);
    view.allowed_numa.push_back(n);
  }
  for (int g = 0; g < gpus; ++g) {
    const std::string number = std::to_string(g);
    view.gpus.push_back(
        {.visible_id = number, .numa = g * nodes / gpus, .pci = "0000:" + number + "1:00.0", .nic = "nic" + number});
  }
  view.allowed_cpus = AllCpus(view);
  return view;
}

// "0-3@0 | 4-7@1": the CPUs and memory of each rank; "*" is marked as shared.
std::string Show(const base::Result<std::vector<Placement>>& placed) {
  if (!placed.ok()) return placed.error().ToString();
  std::string text;
  for (const Placement& one : *placed) {
    text += (text.empty() ? "" : " | ") + FormatNumbers(one.cpus) + "@" + (one.numa ? std::to_string(*one.numa) : "-") +
            (one.shared ? "*" : "");
  }
  return text;
}

std::string Reason(const NodeView& view, const PlacementWish& wish, const LocalRanks& ranks, std::size_t at) {
  const auto placed = PlaceRanks(view, wish, ranks);
  return placed.ok() ? (*placed)[at].reason : placed.error().ToString();
}

constexpr PlacementWish kNone{.bind = Bind::kNone};
constexpr PlacementWish kNuma{.bind = Bind::kNuma};
constexpr PlacementWish kGpu{.bind = Bind::kGpu};

TEST(PlacementTest, LeavesEverythingWithNone) {
  const NodeView view = Machine(2, 8, 4, false);
  EXPECT_EQ(Show(PlaceRanks(view, kNone, {.count = 2})), "@- | @-");
  EXPECT_EQ(Reason(view, kNone, {.count = 2}, 0), "CPUs, memory and GPUs as they are");
  EXPECT_EQ(Show(PlaceRanks(NodeView(), kNone, {})), "@-");
}

TEST(PlacementTest, SpreadsRanksOverNumaNodes) {
  const NodeView dgx = Machine(2, 64, 8, true);
  EXPECT_EQ(Show(PlaceRanks(dgx, kNuma, {.count = 4})),
            "0-31,128-159@0 | 32-63,160-191@0 | 64-95,192-223@1 | 96-127,224-255@1");
  EXPECT_EQ(Reason(dgx, kNuma, {.count = 4}, 3), "NUMA node 1: CPUs 96-127,224-255");
  const NodeView nps4 = Machine(4, 4, 4, false);
  EXPECT_EQ(Show(PlaceRanks(nps4, kNuma, {.count = 2})), "0-3@0 | 8-11@2");
  EXPECT_EQ(Show(PlaceRanks(nps4, kNuma, {.count = 1})), "0-3@0");
  EXPECT_EQ(Show(PlaceRanks(nps4, kNuma, {.count = 6})), "0-1@0 | 2-3@0 | 4-7@1 | 8-9@2 | 10-11@2 | 12-15@3");
  EXPECT_EQ(Show(PlaceRanks(nps4, kNuma, {.count = 16})),
            "0@0 | 1@0 | 2@0 | 3@0 | 4@1 | 5@1 | 6@1 | 7@1 | 8@2 | 9@2 | 10@2 | 11@2 | 12@3 | 13@3 | 14@3 | 15@3");
}

TEST(PlacementTest, PutsRanksBesideTheirGpus) {
  const NodeView dgx = Machine(2, 16, 8, false);
  EXPECT_EQ(Show(PlaceRanks(dgx, kGpu, {.count = 8})),
            "0-3@0 | 4-7@0 | 8-11@0 | 12-15@0 | 16-19@1 | 20-23@1 | 24-27@1 | 28-31@1");
  EXPECT_EQ(Reason(dgx, kGpu, {.count = 8}, 4), "GPU 4 at 0000:41:00.0 and nic4 are on NUMA node 1: CPUs 16-19");
  // Two ranks: both have GPUs of the first node, and half of it each.
  EXPECT_EQ(Show(PlaceRanks(dgx, kGpu, {.count = 2})), "0-7@0 | 8-15@0");
  NodeView swapped = dgx;
  std::swap(swapped.gpus[0], swapped.gpus[7]);
  swapped.gpus[1].nic.clear();
  EXPECT_EQ(Show(PlaceRanks(swapped, kGpu, {.count = 2})), "16-31@1 | 0-15@0");
  EXPECT_EQ(Reason(swapped, kGpu, {.count = 2}, 1), "GPU 1 at 0000:11:00.0 is on NUMA node 0: CPUs 0-15");
}

TEST(PlacementTest, GivesTheSameToATaskAsToAllAtOnce) {
  const NodeView view = Machine(2, 8, 4, true);
  for (const PlacementWish& wish : {kNuma, kGpu}) {
    const auto all = PlaceRanks(view, wish, {.count = 5});
    ASSERT_TRUE(all.ok());
    for (int i = 0; i < 5; ++i) {
      const auto one = PlaceRanks(view, wish, {.count = 5, .only = i});
      ASSERT_TRUE(one.ok());
      ASSERT_EQ(one->size(), 1U);
      const Placement& there = (*all)[static_cast<std::size_t>(i)];
      EXPECT_EQ(one->front().local_rank, i);
      EXPECT_EQ(one->front().cpus, there.cpus);
      EXPECT_EQ(one->front().reason, there.reason);
    }
  }
}

TEST(PlacementTest, GoesRoundTheGpusAndSaysSo) {
  const NodeView view = Machine(2, 4, 2, false);
  EXPECT_EQ(Show(PlaceRanks(view, kGpu, {.count = 4})), "0-1@0 | 4-5@1 | 2-3@0 | 6-7@1");
  EXPECT_EQ(Reason(view, kGpu, {.count = 4}, 3),
            "GPU 1 at 0000:11:00.0 and nic1 are on NUMA node 1: CPUs 6-7; the GPU is also that of local rank 1");
  EXPECT_THAT(Reason(view, kGpu, {.count = 6}, 0), HasSubstr("; the GPU is also that of local ranks 2,4"));
}

TEST(PlacementTest, SharesCoresWhereThereAreFewerThanRanks) {
  const NodeView view = Machine(1, 2, 0, true);
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, {.count = 4})), "0,2@0* | 0,2@0* | 1,3@0* | 1,3@0*");
  EXPECT_EQ(Reason(view, kNuma, {.count = 4}, 1),
            "NUMA node 0: CPUs 0,2, shared with local rank 0: fewer cores than ranks there");
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, {.count = 3})), "0,2@0* | 0,2@0* | 1,3@0");
  EXPECT_THAT(Reason(view, kNuma, {.count = 4096, .only = 0}, 0), HasSubstr("shared with local ranks 1-2047"));
}

// Grace: all CPUs on node 0; the GPUs' own memory is on nodes that have none, and firmware may place a GPU there.
TEST(PlacementTest, FallsBackWhereAGpusNodeHasNoCpus) {
  NodeView grace = Machine(1, 8, 2, false);
  grace.numa_nodes.push_back({.id = 4});
  grace.numa_nodes.push_back({.id = 12, .cpus = grace.numa_nodes[0].cpus});  // as hwloc may tell it: near them
  grace.allowed_numa = {0, 4, 12};
  EXPECT_EQ(Show(PlaceRanks(grace, kNuma, {.count = 2})), "0-3@0 | 4-7@0");
  grace.gpus[0].numa = 4;
  grace.gpus[1].numa = 12;
  EXPECT_EQ(Show(PlaceRanks(grace, kGpu, {.count = 2})), "0-3@0 | 4-7@0");
  EXPECT_EQ(
      Reason(grace, kGpu, {.count = 2}, 0),
      "GPU 0 at 0000:01:00.0: its NUMA node 4 has no CPU that is allowed here; as by numa, NUMA node 0: CPUs 0-3");
  grace.gpus[1].numa.reset();
  EXPECT_EQ(Reason(grace, kGpu, {.count = 2}, 1),
            "GPU 1 at 0000:11:00.0: its NUMA node is not known; as by numa, NUMA node 0: CPUs 4-7");
}

TEST(PlacementTest, StaysInsideAGrantOfFourCpusOverTwoNodes) {
  NodeView view = Machine(2, 16, 8, false);
  view.allowed_cpus = {14, 15, 16, 17};
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, {.count = 2})), "14-15@0 | 16-17@1");
  EXPECT_EQ(Show(PlaceRanks(view, kGpu, {.count = 2})), "14@0 | 15@0");
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, {.count = 4})), "14@0 | 15@0 | 16@1 | 17@1");
  view.allowed_cpus = {15, 16, 17, 18};
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, {.count = 4})), "15@0 | 16@1 | 17@1 | 18@1");
  EXPECT_EQ(Show(PlaceRanks(view, kGpu, {.count = 3})), "15@0* | 15@0* | 15@0*");
  view.allowed_cpus = {20};
  EXPECT_EQ(Show(PlaceRanks(view, kGpu, {})), "20@1");
  EXPECT_THAT(Reason(view, kGpu, {}, 0), HasSubstr("its NUMA node 0 has no CPU that is allowed here"));
}

TEST(PlacementTest, LeavesMemoryThatIsNotAllowed) {
  NodeView view = Machine(2, 4, 2, false);
  view.allowed_numa = {1};
  EXPECT_EQ(Show(PlaceRanks(view, kGpu, {.count = 2})), "0-3@- | 4-7@1");
  EXPECT_THAT(Reason(view, kGpu, {.count = 2}, 0), HasSubstr("NUMA node 0 (its memory is left as it is): CPUs 0-3"));
  view.allowed_numa.clear();
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, {.count = 2})), "0-3@- | 4-7@-");
}

TEST(PlacementTest, DividesAMachineWithoutNumaNodes) {
  NodeView view{.allowed_cpus = {3, 2, 1, 0}, .gpus = {{.visible_id = "0"}}};
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, {.count = 2})), "0-1@- | 2-3@-");
  EXPECT_EQ(Reason(view, kNuma, {.count = 2}, 0), "no NUMA nodes are known: CPUs 0-1");
  EXPECT_EQ(Reason(view, kGpu, {}, 0),
            "GPU 0: its NUMA node is not known; as by numa, no NUMA nodes are known: CPUs 0-3");
}

TEST(PlacementTest, KeepsTheThreadsOfACoreTogether) {
  NodeView view = Machine(1, 3, 0, true);  // cores 0,3 1,4 2,5
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, {.count = 2})), "0,3@0 | 1-2,4-5@0");
  view.allowed_cpus = {0, 3, 4};  // one thread of the second core is offline
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, {.count = 2})), "0,3@0 | 4@0");
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, {.count = 3})), "0,3@0* | 0,3@0* | 4@0");
}

TEST(PlacementTest, KeepsATasksOwnCpus) {
  NodeView view = Machine(2, 8, 4, false);
  EXPECT_FALSE(HasOwnCpus(view));
  view.allowed_cpus = {12, 13};
  EXPECT_TRUE(HasOwnCpus(view));
  const LocalRanks own{.count = 4, .only = 3, .own_cpus = true};
  EXPECT_EQ(Show(PlaceRanks(view, kGpu, own)), "12-13@1");
  EXPECT_EQ(Reason(view, kGpu, own, 0),
            "GPU 3 at 0000:31:00.0 and nic3 are on NUMA node 1: CPUs 12-13, of those Slurm gave this task");
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, own)), "12-13@1");
  // Far from its GPU: inside what it has all the same.
  const LocalRanks far{.count = 4, .only = 0, .own_cpus = true};
  EXPECT_EQ(Show(PlaceRanks(view, kGpu, far)), "12-13@1");
  EXPECT_THAT(Reason(view, kGpu, far, 0), HasSubstr("its NUMA node 0 has no CPU that is allowed here; as by numa"));
  // Over two nodes: where most are; of equal ones each task another.
  view.allowed_cpus = {7, 8, 9};
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, far)), "8-9@1");
  view.allowed_cpus = {6, 7, 8, 9};
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, far)), "6-7@0");
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, own)), "8-9@1");
}

TEST(PlacementTest, TakesTheFirstOfATasksOwnGpus) {
  NodeView view = Machine(2, 8, 4, false);
  view.gpus = {view.gpus[3]};
  view.gpus[0].visible_id = "0";
  const LocalRanks own{.count = 4, .only = 3, .own_gpus = true};
  EXPECT_EQ(Show(PlaceRanks(view, kGpu, own)), "8-15@1*");
  EXPECT_EQ(
      Reason(view, kGpu, own, 0),
      "GPU 0 at 0000:31:00.0 and nic3 are on NUMA node 1: CPUs 8-15, shared with other tasks that have GPUs there");
  EXPECT_EQ(Show(PlaceRanks(view, kGpu, {.count = 4, .only = 3, .own_cpus = true, .own_gpus = true})), "8-15@1");
  EXPECT_EQ(Show(PlaceRanks(view, kNuma, own)), "12-15@1");
}

TEST(PlacementTest, LetsARankSeeItsGpuAlone) {
  NodeView view = Machine(2, 4, 4, false);
  const auto placed = PlaceRanks(view, {.bind = Bind::kGpu, .own_gpu_only = true}, {.count = 4});
  ASSERT_TRUE(placed.ok());
  EXPECT_EQ((*placed)[2].gpu_set, (Environment{{"CUDA_VISIBLE_DEVICES", "2"}}));
  EXPECT_EQ(Reason(view, {.own_gpu_only = true}, {.count = 5}, 4),
            "sees GPU 0 at 0000:01:00.0 alone; the GPU is also that of local rank 0");
  EXPECT_EQ(Reason(view, {.bind = Bind::kNuma, .own_gpu_only = true}, {.count = 4}, 1),
            "NUMA node 0: CPUs 2-3; sees GPU 1 at 0000:11:00.0 alone");
  view.gpus[1].visible_id = "GPU-de94\n";
  view.gpu_variable = "ROCR_VISIBLE_DEVICES";
  view.gpu_variables_counting = {"HIP_VISIBLE_DEVICES"};
  const auto amd = PlaceRanks(view, {.own_gpu_only = true}, {.count = 4, .only = 1});
  ASSERT_TRUE(amd.ok());
  EXPECT_EQ(amd->front().gpu_set, (Environment{{"HIP_VISIBLE_DEVICES", "0"}, {"ROCR_VISIBLE_DEVICES", "GPU-de94\n"}}));
  EXPECT_EQ(amd->front().reason, "sees GPU GPU-de94\\x0a at 0000:11:00.0 alone");
}

TEST(PlacementTest, RefusesWhatCannotBe) {
  struct Case {
    NodeView view;
    PlacementWish wish;
    LocalRanks ranks;
    const char* message;
  };
  const NodeView view = Machine(2, 4, 2, false);
  const NodeView no_gpu = Machine(2, 4, 0, false);
  NodeView no_cpu = view;
  no_cpu.allowed_cpus.clear();
  for (const Case& one : std::vector<Case>{
           {no_gpu,
            kGpu,
            {},
            "--bind gpu: no GPU is visible here. Ask Slurm for GPUs (--gpus-per-node), or use --bind "
            "numa or --bind none"},
           {no_gpu,
            {.own_gpu_only = true},
            {},
            "no GPU is visible here, so no rank can have one of its own. Ask Slurm"},
           {no_cpu, kNuma, {}, "no CPU to give: this process's affinity is empty or not known"},
           {no_cpu, kGpu, {}, "no CPU to give"},
           {NodeView(), kNuma, {}, "no CPU to give"},
           {view, kNuma, {.count = 0}, "no such local rank: got \"0\", expected 1 to 4096 ranks, counted from 0"},
           {view, kNuma, {.count = -1}, "got \"-1\""},
           {view, kNone, {.count = 0}, "no such local rank"},
           {view, kNuma, {.count = 4097}, "got \"4097\""},
           {view, kNuma, {.count = INT_MAX}, "no such local rank"},
           {view, kNuma, {.count = 2, .only = 2}, "got \"2 of 2\""},
           {view, kNuma, {.count = 2, .only = -1}, "got \"-1 of 2\""},
       }) {
    const auto placed = PlaceRanks(one.view, one.wish, one.ranks);
    ASSERT_FALSE(placed.ok()) << one.message;
    EXPECT_THAT(placed.error().ToString(), HasSubstr(one.message));
  }
}

TEST(PlacementTest, FormatsNumbers) {
  EXPECT_EQ(FormatNumbers({}), "");
  EXPECT_EQ(FormatNumbers({8, 0, 1, 2, 3, 3}), "0-3,8");
  EXPECT_EQ(FormatNumbers({0, 1}), "0-1");
  EXPECT_EQ(FormatNumbers({5}), "5");
}

}  // namespace
}  // namespace nccl_tune::launcher
