// SPDX-License-Identifier: Apache-2.0
//
// What a Session does where there is no server; with one it is tested end to end.
#include "pmix/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::pmix {
namespace {

using ::testing::HasSubstr;

TEST(SessionTest, SaysHowToGetAServer) {
  const auto session = Session::Init({});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code, base::Code::kNotFound);
  EXPECT_THAT(session.error().ToString(), HasSubstr("srun --mpi=pmix"));
}

TEST(SessionTest, RefusesTheVariablesOfAnOuterStep) {
  const auto session = Session::Init({{"PMIX_NAMESPACE", "slurm.pmix.1.0"}, {"PMIX_RANK", "0"}});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code, base::Code::kForbidden);
  EXPECT_THAT(session.error().ToString(), HasSubstr("outer step"));
}

TEST(SessionTest, NamesAMalformedStep) {
  const auto session = Session::Init({{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "x"}});
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.error().ToString(), HasSubstr("SLURM_PROCID"));
}

}  // namespace
}  // namespace nccl_tune::pmix
