// SPDX-License-Identifier: Apache-2.0
#include "bench/shown_environment.h"

#include <gtest/gtest.h>

namespace nccl_tune::bench {
namespace {

TEST(ShownEnvironmentTest, WhatDecidesTheRun) {
  for (const char* name :
       {"NCCL_DEBUG", "NCCL_IB_HCA", "NCCL_TESTS_MIN_BW", "NCCL_TUNE_PLAN", "NCCL_BENCH_NCCL_LIB", "UCX_TLS",
        "OMPI_MCA_pml", "OMPI_COMM_WORLD_SIZE", "PMIX_MCA_gds", "CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID", "SLURM_NTASKS",
        "SLURM_STEP_NODELIST", "SLURM_JOB_PARTITION", "SLURM_GPUS_PER_NODE", "NCCL_IB_PKEY", "UCX_IB_PKEY"}) {
    EXPECT_TRUE(IsShown(name)) << name;
  }
}

TEST(ShownEnvironmentTest, NothingElse) {
  for (const char* name : {"",
                           "PATH",
                           "HOME",
                           "USER",
                           "AWS_SECRET_ACCESS_KEY",
                           "HF_TOKEN",
                           "WANDB_API_KEY",
                           "MASTER_ADDR",
                           "PMIX_SECURITY_MODE",
                           "PMIX_SERVER_URI41",
                           "SLURM_JOB_USER",
                           "SLURM_JOB_ACCOUNT",
                           "SLURM_JOB_NAME",
                           "SLURM_JWT",
                           "SLURM_SUBMIT_DIR",
                           "SLURM_JOB_COMMENT",
                           "SLURM_SPANK_NCCL_TUNE",
                           "SLURM_JOB_ID_",
                           "XNCCL_DEBUG",
                           "nccl_debug",
                           "NCCL",
                           "CUDA_VISIBLE_DEVICES_",
                           "LD_PRELOAD"}) {
    EXPECT_FALSE(IsShown(name)) << name;
  }
}

TEST(ShownEnvironmentTest, SecretsEvenUnderAShownPrefix) {
  for (const char* name :
       {"NCCL_API_KEY", "NCCL_KEY", "UCX_auth_file", "OMPI_TOKEN", "OMPI_MCA_some_Token", "UCX_SECRET", "NCCL_PASSWORD",
        "NCCL_PASSWD", "PMIX_MCA_credential", "NCCL_PKEY_KEY", "OMPI_MCA_orte_precondition_transports",
        "OMPI_MCA_orte_hnp_uri", "NCCL_MY_APIKEY_FILE", "NCCL_APPKEY"}) {
    EXPECT_FALSE(IsShown(name)) << name;
  }
}

TEST(ShownEnvironmentTest, Entries) {
  EXPECT_EQ(ShownEnvironment({}), std::vector<std::string>{});
  EXPECT_EQ(ShownEnvironment({{"UCX_TLS", "rc"},
                              {"NCCL_DEBUG", ""},
                              {"NCCL_IB_HCA", "=mlx5_7:1"},
                              {"NCCL_TOKEN", "hidden"},
                              {"PATH", "/bin"}}),
            (std::vector<std::string>{"NCCL_DEBUG=", "NCCL_IB_HCA==mlx5_7:1", "UCX_TLS=rc"}));
}

}  // namespace
}  // namespace nccl_tune::bench
