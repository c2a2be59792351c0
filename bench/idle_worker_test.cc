// SPDX-License-Identifier: Apache-2.0
#include "bench/idle_worker.h"

#include <gtest/gtest.h>

#include "bench/simulated_backend.h"

namespace nccl_tune::bench {
namespace {

class IdleWorkerTest : public ::testing::Test {
 protected:
  IdleWorkerTest() : backend_({}, {.processes = 4}), idle_(Joined(backend_)) {}

  static Worker& Joined(SimulatedBackend& backend) {
    EXPECT_TRUE(backend.Connect().ok());
    EXPECT_TRUE(backend.Join(64).ok());
    EXPECT_TRUE(backend.Regroup(std::nullopt).ok());
    return backend.worker(0);
  }

  SimulatedBackend backend_;
  IdleWorker idle_;
};

TEST_F(IdleWorkerTest, StartsNothing) {
  Call call{.collective = FindCollective("all_reduce")};
  call.shape = call.collective->shape({.elements = 4, .type_bytes = 4, .ranks = 1});
  ASSERT_FALSE(backend_.worker(0).Start(call, 0).ok()) << "it is in no group";
  const SimulatedCounts before = backend_.counts();
  EXPECT_TRUE(idle_.Fill(call, 1).ok());
  EXPECT_TRUE(idle_.Start(call, 0).ok());
  EXPECT_TRUE(idle_.BeginGroup().ok());
  EXPECT_TRUE(idle_.EndGroup().ok());
  EXPECT_TRUE(idle_.ReserveMarks(2).ok());
  EXPECT_TRUE(idle_.Mark(5).ok());
  EXPECT_TRUE(idle_.BeginCapture().ok());
  EXPECT_TRUE(idle_.EndCapture().ok());
  EXPECT_TRUE(idle_.Replay().ok());
  EXPECT_TRUE(idle_.DropCapture().ok());
  EXPECT_TRUE(idle_.Finish().ok());
  EXPECT_TRUE(idle_.Corrupt(call, 0, 0).ok());
  const auto checked = idle_.Check(call, 1);
  ASSERT_TRUE(checked.ok());
  EXPECT_EQ(checked->count, 0U);
  EXPECT_EQ(backend_.counts().fills, before.fills);
  EXPECT_EQ(backend_.counts().starts, before.starts);
  EXPECT_EQ(backend_.counts().checks, before.checks);
}

TEST_F(IdleWorkerTest, TakesPartInWhatAllDo) {
  EXPECT_TRUE(idle_.Barrier().ok());
  EXPECT_EQ(idle_.Reduce(3, Combine::kSum).value_or(0), 12);
  EXPECT_EQ(idle_.GatherGreatest({7}).value_or({}).size(), 4U);
  EXPECT_EQ(backend_.counts().barriers, 1U);
  EXPECT_EQ(backend_.counts().reductions, 1U);
}

TEST_F(IdleWorkerTest, HasATimeForEachPair) {
  EXPECT_EQ(idle_.Between({{0, 1}, {1, 2}}).value_or({}), std::vector<double>({0, 0}));
}

}  // namespace
}  // namespace nccl_tune::bench
