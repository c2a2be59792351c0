// SPDX-License-Identifier: Apache-2.0
#include "cli/activity.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/policy/site_policy.h"
#include "hw/capture_tree.h"
#include "site/parse_policy.h"

namespace nccl_tune::cli {
namespace {

// On node n1, outside a job.
std::string Describe(const std::string& arguments, const std::string& policy) {
  hw::Capture capture;
  capture.entries.emplace("etc/slurm/slurm.conf", hw::CaptureFile{"ClusterName=c\n"});
  capture.entries.emplace("etc/slurm/plugstack.conf",
                          hw::CaptureFile{"optional /usr/lib/spank_nccl_tune.so " + arguments + "\n"});
  const auto installation = site::ReadInstallation(hw::CaptureTree(std::move(capture)), "");
  const auto file = site::ParsePolicy(policy, "p");
  EXPECT_TRUE(file.ok()) << policy;
  policy::SiteContext context;
  context.node = "n1";
  const auto got = DescribeActivity(installation, *file, policy::Resolve(*file, context));
  std::string out = got.text;
  for (const auto& note : got.notes) out += "\n" + note;
  return out;
}

TEST(ActivityTest, InWhichJobs) {
  const std::string asks = "active in jobs that ask: srun --nccl-tune";
  const auto every = [](const std::string& mode) {
    return "active in every job (" + mode + ") that does not say --nccl-tune=off";
  };
  const std::string otherwise = "; by blocks of the policy otherwise; ";
  const auto idle = [](const std::string& by_default) {
    return "\nmode in the policy has no effect on jobs that say nothing: the default is " + by_default +
           ". Write default=policy behind the path in /etc/slurm/plugstack.conf:1";
  };
  const std::string gpu = "[[when]]\npartition = \"gpu\"\nmode = \"auto\"\n";
  const struct {
    const char* arguments;
    std::string policy;
    std::string text;
  } kRows[] = {
      {"", "", asks},
      {"default=off", "", asks},
      {"default=auto", "", every("auto")},
      {"default=auto,explain", "", every("auto,explain")},
      {"default=policy", "", asks},
      {"default=policy", "mode = \"auto\"", every("auto")},
      {"default=auto", "mode = \"dry-run\"", every("dry-run")},
      {"default=policy", "mode = \"off\"", "turned off here by the site's policy, line 1"},
      {"default=auto", "mode = \"off\"", "turned off here by the site's policy, line 1"},
      {"", "mode = \"auto\"", asks + idle("off")},
      {"default=on", "mode = \"auto\"", asks + idle("off")},
      {"default=policy", gpu, asks + otherwise + "partition gpu: every job (auto) (line 3)"},
      {"default=policy", "mode = \"off\"\n" + gpu,
       "turned off here by the site's policy, line 1" + otherwise + "partition gpu: every job (auto) (line 4)"},
      {"", "mode = \"off\"\n" + gpu,
       "turned off here by the site's policy, line 1" + otherwise + "partition gpu: jobs that ask (line 4)"},
      {"", gpu, asks + idle("off")},
      {"", "[[when]]\nnodes = \"n[2-3]\"\nmode = \"off\"\n", asks + otherwise + "nodes n[2-3]: off (line 3)"},
      {"default=auto", "[[when]]\nnodes = \"n1\"\nmode = \"off\"\n",
       "turned off here by the site's policy, line 3" + otherwise + "nodes n1: off (line 3)"},
      {"default=policy", "[[when]]\npartition = \"gpu\"\ngid_index = \"auto\"\n", asks},
  };
  for (const auto& row : kRows) EXPECT_EQ(Describe(row.arguments, row.policy), row.text) << row.arguments;
}

}  // namespace
}  // namespace nccl_tune::cli
