// SPDX-License-Identifier: Apache-2.0
#include "bench/backend_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  EXPECT_EQ(ChooseBackend({.devices = 8, .threads = 2, .gpus = 4})->kind, BackendKind::kNccl);
}

TEST(BackendChoiceTest, RefusesWhatIsNotThere) {
  struct Case {
    ChoiceFacts facts;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{
           {{.forced = BackendKind::kNccl, .nccl_missing = "not built: no nvcc"}, "--backend nccl: not built: no nvcc"},
           {{.forced = BackendKind::kNccl, .devices_why = "no driver"}, "--backend nccl: no driver"},
           {{.devices = 2, .gpus = 4}, "-g 4: this process sees fewer GPUs: got \"4\", expected at most 2"},
           {{.devices = 2, .threads = 3}, "-t 3: this process sees fewer GPUs: got \"3\", expected at most 2"},
           {{.devices = 4, .threads = 2, .gpus = 4}, "-t 2 -g 4: this process sees fewer GPUs: got \"8\""},
           {{.devices = 1, .threads = 1024, .gpus = 1024}, "got \"1048576\", expected at most 1"},
           {{.forced = BackendKind::kMpi, .gpus = 2}, "-g 2: the mpi backend (--backend) has one rank per process"},
           {{.devices_why = "no driver", .gpus = 2}, "-g 2: the mpi backend (no driver)"},
           {{.devices_why = "no driver", .threads = 2}, "-t 2: the mpi backend (no driver)"},
           {{.devices_why = "no driver", .threads = 2, .gpus = 4},
            "-t 2 -g 4: the mpi backend (no driver) has one rank per process, in host memory. Start more tasks "
            "instead: "
            "srun --ntasks-per-node=8"},
       }) {
    const auto choice = ChooseBackend(one.facts);
    ASSERT_FALSE(choice.ok()) << one.message;
    EXPECT_THAT(choice.error().ToString(), HasSubstr(one.message));
  }
}

TEST(BackendChoiceTest, LeavesAsideWhatHostMemoryHasNot) {
  struct Case {
    Options options;
    const char* sentence;
  };
  for (const Case& one : std::vector<Case>{
           {{.parallel_init = true}, "-p 1: a process has one rank in host memory"},
           {{.null_stream = true}, "-y 1: host memory has no CUDA streams, measuring without it"},
           {{.graph_launches = 10}, "-G 10: host memory has no CUDA graphs"},
           {{.registration = Registration::kLocal}, "-R 1: MPI has no buffers to register"},
           {{.registration = Registration::kSymmetric}, "-R 2: MPI has no buffers to register"},
           {{.cta_policy = 0}, "-x 0: no CTA of a GPU takes part"},
           {{.device_implementation = 3}, "-D 3: kernels of NCCL's device API"},
           {{.device_ctas = 32}, "-V 32: no CTA of a GPU takes part"},
           {{.reports_memory = true}, "-M 1: no GPU memory is used"},
           {{.debug_file = "log"}, "--nccl-debug: NCCL takes no part"},
           {{.profile = true}, "--nvtx: only the nccl backend marks its calls"},
           {{.first_gpu = 3}, "NCCL_TESTS_DEVICE=3: host memory has no GPUs to choose from, measuring without it"},
       }) {
    Options options = one.options;
    EXPECT_THAT(LeaveAside(options), ElementsAre(HasSubstr(one.sentence))) << one.sentence;
    EXPECT_THAT(LeaveAside(options), IsEmpty()) << "nothing is left of " << one.sentence;
  }
}

TEST(BackendChoiceTest, KeepsWhatAppliesToHostMemory) {
  Options standard;
  EXPECT_THAT(LeaveAside(standard), IsEmpty());
  Options options{.aggregated = 4,
                  .blocking = Blocking::kOuter,
                  .timeout_seconds = 60,
                  .reports_cpu_time = true,
                  .reports_timestamps = true,
                  .average = Average::kGreatest,
                  .unaligned = 3,
                  .times_iterations = true,
                  .skipped_iterations = 2};
  EXPECT_THAT(LeaveAside(options), IsEmpty());
}

}  // namespace
}  // namespace nccl_tune::bench
