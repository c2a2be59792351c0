// SPDX-License-Identifier: Apache-2.0
#include "bench/backend_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;

TEST(BackendChoiceTest, ChoosesByItself) {
  EXPECT_EQ(ChooseBackend({.devices = 1})->kind, BackendKind::kNccl);
  const auto no_device = ChooseBackend({.devices_why = "no driver"});
  EXPECT_EQ(no_device->kind, BackendKind::kMpi);
  EXPECT_EQ(no_device->reason, "no driver");
  const auto not_built = ChooseBackend({.nccl_missing = "not built", .devices = 1});
  EXPECT_EQ(not_built->kind, BackendKind::kMpi);
  EXPECT_EQ(not_built->reason, "not built");
}

TEST(BackendChoiceTest, FollowsTheUser) {
  EXPECT_EQ(ChooseBackend({.forced = BackendKind::kMpi, .devices = 8})->kind, BackendKind::kMpi);
  EXPECT_EQ(ChooseBackend({.forced = BackendKind::kNccl, .devices = 8, .gpus = 8})->reason, "--backend");
}

TEST(BackendChoiceTest, RefusesWhatIsNotThere) {
  struct Case {
    ChoiceFacts facts;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{
           {{.forced = BackendKind::kNccl, .nccl_missing = "not built: no nvcc"}, "--backend nccl: not built: no nvcc"},
           {{.forced = BackendKind::kNccl, .devices_why = "no driver"}, "--backend nccl: no driver"},
           {{.devices = 2, .gpus = 4}, "-g: this process sees fewer GPUs: got \"4\", expected at most 2"},
           {{.forced = BackendKind::kMpi, .gpus = 2}, "-g: the mpi backend (--backend) has one rank per process"},
           {{.devices_why = "no driver", .gpus = 2}, "-g: the mpi backend (no driver)"},
       }) {
    const auto choice = ChooseBackend(one.facts);
    ASSERT_FALSE(choice.ok()) << one.message;
    EXPECT_THAT(choice.error().ToString(), HasSubstr(one.message));
  }
}

}  // namespace
}  // namespace nccl_tune::bench
