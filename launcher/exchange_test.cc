// SPDX-License-Identifier: Apache-2.0
#include "launcher/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "pmix/stand_in.h"

namespace nccl_tune::launcher {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A step whose ranks are threads of this process, spread in blocks; all "nodes" are reached at 127.0.0.1.
class Step {
 public:
  std::vector<Bringing> brings{};
  std::vector<std::optional<base::Result<Together>>> results{};

  Step(std::uint32_t nodes, std::uint32_t tasks) {
    for (std::uint32_t rank = 0; rank < nodes * tasks; ++rank) {
      Bringing one;
      one.step = {.job = "1",
                  .step = "0",
                  .rank = rank,
                  .size = nodes * tasks,
                  .local_rank = rank % tasks,
                  .local_size = tasks,
                  .node_id = rank / tasks,
                  .node_count = nodes,
                  .node = "n" + std::to_string(rank / tasks)};
      one.tasks.assign(nodes, tasks);
      for (std::uint32_t local = 0; local < tasks; ++local) one.node_ranks.push_back(rank / tasks * tasks + local);
      one.address = "127.0.0.1";
      one.digest = "NCCL_ALGO=Ring\n";
      one.entry.node = one.step.node;
      one.entry.node_id = one.step.node_id;
      one.entry.ranks = std::to_string(one.node_ranks.front()) + "-" + std::to_string(one.node_ranks.back());
      if (tasks == 1) one.entry.ranks = std::to_string(rank);
      one.entry.version = "0";
      one.master_address = "127.0.0.1";
      one.fallback_address = "n0";
      one.master_port = 20'001;
      one.program = "prog";
      one.preflight_limit = milliseconds(3000);
      one.start_limit = milliseconds(20'000);
      brings.push_back(std::move(one));
    }
  }

  void Run() {
    const auto members = pmix::MakeStandIns(static_cast<std::uint32_t>(brings.size()));
    results.resize(brings.size());
    std::vector<std::thread> ranks;
    for (std::size_t rank = 0; rank < brings.size(); ++rank) {
      ranks.emplace_back([&, rank] { results[rank].emplace(ComeTogether(*members[rank], brings[rank])); });
    }
    for (auto& rank : ranks) rank.join();
  }

  const Together& operator[](std::size_t rank) const { return **results[rank]; }
};

TEST(Exchange, AllComeTogether) {
  Step step(3, 2);
  step.Run();
  for (std::size_t rank = 0; rank < 6; ++rank) {
    ASSERT_TRUE(step.results[rank]->ok()) << step.results[rank]->error().ToString();
    EXPECT_EQ(step[rank].status, 0);
    EXPECT_EQ(step[rank].master_address, "127.0.0.1");
    EXPECT_EQ(step[rank].master_port, 20'001);
    EXPECT_EQ(step[rank].first_rank, rank);
    EXPECT_EQ(step[rank].all_ranks, 6U);
    EXPECT_EQ(step[rank].agreement, Agreement{});
    EXPECT_EQ(step[rank].links.HasParent(), rank != 0);
  }
  EXPECT_THAT(step[0].lines, IsEmpty());
  EXPECT_EQ(step[0].children, 3U);  // two nodes and a task of its own
  EXPECT_EQ(step[2].children, 1U);
  EXPECT_EQ(step[3].children, 0U);
}

TEST(Exchange, ManyNodesAreSeveralLevelsDeep) {
  Step step(40, 1);
  step.Run();
  ASSERT_TRUE(step.results[0]->ok()) << step.results[0]->error().ToString();
  EXPECT_THAT(step[0].lines, IsEmpty());
  EXPECT_EQ(step[0].children, 16U);
  EXPECT_EQ(step[1].children, 16U);
  EXPECT_EQ(step[2].children, 7U);
}

TEST(Exchange, WithoutAPreflightNobodyWaitsForConnections) {
  Step step(2, 1);
  for (auto& one : step.brings) one.preflight = Preflight::kOff;
  step.brings[0].address = "192.0.2.1";  // nowhere
  step.Run();
  ASSERT_TRUE(step.results[1]->ok());
  EXPECT_EQ(step[1].status, 0);
  EXPECT_EQ(step[1].master_port, 20'001);
  EXPECT_TRUE(step[1].links.AwaitsParent() || !step[1].links.HasParent());
}

TEST(Exchange, NodeThatCannotBeReachedIsNamedAndAllFallBack) {
  Step step(3, 1);
  step.brings[2].address = "not-an-address";
  for (auto& one : step.brings) one.preflight_limit = milliseconds(1000);
  step.Run();
  ASSERT_TRUE(step.results[0]->ok()) << step.results[0]->error().ToString();
  std::string text;
  for (const auto& line : step[0].lines) text += line + "\n";
  EXPECT_THAT(text, HasSubstr("reached by TCP"));
  EXPECT_THAT(text, HasSubstr("n2"));
}

TEST(Exchange, ProgramThatIsMissingSomewhereStopsAll) {
  Step step(3, 1);
  step.brings[1].exec_error = ENOENT;
  step.Run();
  for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_EQ(step[rank].status, 127);
  ASSERT_EQ(step[0].lines.size(), 1U);
  EXPECT_EQ(step[0].lines[0], "prog: not found: No such file or directory on n1");
  for (auto& one : step.brings) one.exec_error = EACCES;
  step.Run();
  EXPECT_EQ(step[2].status, 126);
  EXPECT_EQ(step[0].lines[0], "prog: cannot be executed: Permission denied on n0, n1, n2");
}

TEST(Exchange, TasksWithOtherSettingsThanTheirNodesFirstAreNamed) {
  Step step(2, 3);
  step.brings[4].digest = "NCCL_ALGO=Tree\nNCCL_DEBUG=INFO\n";
  step.Run();
  ASSERT_EQ(step[0].lines.size(), 2U);
  EXPECT_EQ(step[0].lines[0],
            "rank 4 on n1 with other NCCL settings than the first rank of that node: NCCL_ALGO=Tree, NCCL_DEBUG=INFO");
  EXPECT_EQ(step[0].status, 0);
  for (auto& one : step.brings) one.preflight = Preflight::kFail;
  step.Run();
  for (std::size_t rank = 0; rank < 6; ++rank) EXPECT_EQ(step[rank].status, kPreflightFailed);
  step.brings[4].digest = "NCCL_ALGO=Ring\nNCCL_DEBUG=INFO\n";  // does no harm
  step.Run();
  EXPECT_EQ(step[0].status, 0);
}

TEST(Exchange, TasksThatStartSeveralRanksCountThem) {
  Step step(3, 1);
  for (auto& one : step.brings) one.procs = 4;
  step.Run();
  EXPECT_EQ(step[2].first_rank, 8U);
  EXPECT_EQ(step[2].all_ranks, 12U);
  for (auto& one : step.brings) one.procs_vary = true;
  step.brings[0].procs = 2;
  step.Run();
  EXPECT_EQ(step[0].first_rank, 0U);
  EXPECT_EQ(step[1].first_rank, 2U);
  EXPECT_EQ(step[2].first_rank, 6U);
  EXPECT_EQ(step[2].all_ranks, 10U);
}

TEST(Exchange, RankThatNeverComesIsATimeout) {
  const auto members = pmix::MakeStandIns(2);
  Step step(2, 1);
  step.brings[0].start_limit = milliseconds(20);
  const auto together = ComeTogether(*members[0], step.brings[0]);
  ASSERT_FALSE(together.ok());
  EXPECT_EQ(together.error().code, base::Code::kTimeout);
}

}  // namespace
}  // namespace nccl_tune::launcher
