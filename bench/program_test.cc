// SPDX-License-Identifier: Apache-2.0
//
// What needs no other process: texts, refusals and their exit statuses. Runs are tests/e2e/bench*.bats.
#include "bench/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/version.h"
#include "bench/ending.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

struct Ran {
  int status = -1;
  std::string out{};
  std::string error{};
};

Ran RunWith(const std::vector<std::string>& arguments, const Environment& environment = {},
            const std::string& called = "nccl-bench") {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ran ran{.status = RunProgram(called, arguments, environment)};
  ran.out = testing::internal::GetCapturedStdout();
  ran.error = testing::internal::GetCapturedStderr();
  return ran;
}

// Task `rank` of a step of two.
Environment Step(const std::string& rank) {
  return {{"SLURM_JOB_ID", "7"},         {"SLURM_STEP_ID", "0"},  {"SLURM_PROCID", rank},
          {"SLURM_NTASKS", "2"},         {"SLURM_LOCALID", "0"},  {"SLURM_STEP_NUM_TASKS", "2"},
          {"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_NNODES", "2"},   {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
          {"SLURM_NODEID", rank},        {"SLURMD_NODENAME", "n"}};
}

TEST(ProgramTest, HelpAndVersionAreOutputAndStartNothing) {
  for (const char* flag : {"--help", "-h"}) {
    const Ran ran = RunWith({flag});
    EXPECT_EQ(ran.status, 0) << flag;
    EXPECT_THAT(ran.out, HasSubstr("--minbytes"));
    EXPECT_THAT(ran.error, IsEmpty());
  }
  const Ran version = RunWith({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out, "nccl-bench " + std::string(base::kVersion) + "\n");
  EXPECT_THAT(version.error, IsEmpty());
}

TEST(ProgramTest, WrongUseIsSixAndOneLine) {
  struct Case {
    std::vector<std::string> arguments;
    const char* text;
  };
  for (const Case& one : {
           Case{{"all_reduce", "-Z", "1"}, "-Z"},
           Case{{"all_reduce", "--nothing"}, "--nothing"},
           Case{{"all_reduce", "-b", "8X"}, "8X"},
           Case{{"all_reduce", "-n", "0"}, "-n"},
           Case{{"all_reduce", "-b"}, "-b"},
           Case{{"all_reduce", "-n", "1000001", "-I", "1"}, "too many iterations to keep the time of each (-I)"},
           Case{{"all_together"}, "no collective of this name"},
           Case{{}, "collective"},
           Case{{"all_reduce", "--backend", "cuda"}, "--backend"},
           Case{{"all_reduce", "--backend", ""}, "--backend"},
           Case{{"all_reduce", "--backend"}, "--backend"},
           Case{{"pairs", "-t", "2"}, "-t"},
           Case{{"all_reduce", "--backend", "mpi", "-t", "2"}, "one rank per process"},
           Case{{"all_reduce", "--backend", "mpi", "-g", "2"}, "-g 2"},
       }) {
    const Ran ran = RunWith(one.arguments);
    EXPECT_EQ(ran.status, kStatusInvalidUse) << one.text;
    EXPECT_THAT(ran.error, StartsWith("nccl-bench: "));
    EXPECT_THAT(ran.error, HasSubstr(one.text));
    EXPECT_THAT(ran.error, MatchesRegex("[^\n]*\n"));
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

TEST(ProgramTest, TaskZeroSpeaksForAll) {
  for (const Environment& other : {Environment{{"SLURM_PROCID", "1"}}, Environment{{"OMPI_COMM_WORLD_RANK", "1"}},
                                   Environment{{"SLURM_PROCID", "0"}, {"OMPI_COMM_WORLD_RANK", "3"}}}) {
    const Ran ran = RunWith({"all_reduce", "-Z"}, other);
    EXPECT_EQ(ran.status, kStatusInvalidUse);
    EXPECT_THAT(ran.error, IsEmpty());
  }
  EXPECT_THAT(RunWith({"all_reduce", "-Z"}, {{"SLURM_PROCID", "0"}}).error, HasSubstr("-Z"));
}

TEST(ProgramTest, TheNameOfTheProgramIsTheCollective) {
  EXPECT_THAT(RunWith({"-n", "0"}, {}, "all_reduce_perf").error, HasSubstr("-n"));
  EXPECT_THAT(RunWith({"-n", "1"}, {}, "all_together_perf").error, HasSubstr("collective"));
}

TEST(ProgramTest, AStartThatConnectsNobodyIsRefused) {
  const Ran first = RunWith({"all_reduce", "--backend", "mpi"}, Step("0"));
  EXPECT_EQ(first.status, kStatusInvalidUse);
  EXPECT_THAT(first.error, HasSubstr("this step of 2 tasks was started without --mpi=pmix"));
  const Ran second = RunWith({"all_reduce", "--backend", "mpi"}, Step("1"));
  EXPECT_EQ(second.status, kStatusInvalidUse);
  EXPECT_THAT(second.error, IsEmpty());
  Environment inherited = Step("0");
  inherited["PMIX_NAMESPACE"] = "slurm.pmix.7.1";
  inherited["PMIX_RANK"] = "0";
  EXPECT_THAT(RunWith({"all_reduce", "--backend", "mpi"}, inherited).error, HasSubstr("outer step"));
  Environment malformed = Step("0");
  malformed["SLURM_STEP_NUM_TASKS"] = malformed["SLURM_NTASKS"] = "x";
  EXPECT_EQ(RunWith({"all_reduce", "--backend", "mpi"}, malformed).status, kStatusInvalidUse);
}

// No GPU, no such backend in this build, or fewer GPUs than that.
TEST(ProgramTest, MoreGpusThanThereAre) {
  const Ran ran = RunWith({"all_reduce", "--backend", "nccl", "-t", "100", "-g", "100"});
  EXPECT_THAT(ran.status, AnyOf(kStatusInvalidUse, kStatusNotImplemented));
  EXPECT_THAT(ran.error, StartsWith("nccl-bench: "));
  EXPECT_THAT(ran.error, AnyOf(HasSubstr("--backend nccl: "), HasSubstr("this process sees fewer GPUs")));
  EXPECT_THAT(ran.out, IsEmpty());
}

}  // namespace
}  // namespace nccl_tune::bench
