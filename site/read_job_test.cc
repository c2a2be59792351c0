// SPDX-License-Identifier: Apache-2.0
#include "site/read_job.h"

#include <gtest/gtest.h>

#include <string>

#include "hw/capture_tree.h"
#include "site/parse_policy.h"

namespace nccl_tune::site {
namespace {

hw::CaptureTree MakeTree(const std::map<std::string, std::string>& files) {
  hw::Capture capture;
  for (const auto& [path, text] : files) capture.entries[path] = hw::CaptureFile{text};
  return hw::CaptureTree(std::move(capture));
}

TEST(ReadSettingsTest, TheEnvironmentThenNcclsFilesThenMpis) {
  const auto tree = MakeTree({{"etc/nccl.conf", "NCCL_IB_HCA=mlx5_0\nNCCL_IB_TC=106\n"},
                              {"home/u/.nccl.conf", "NCCL_IB_HCA=mlx5_3\n"},
                              {"etc/openmpi/openmpi-mca-params.conf", "btl_tcp_if_exclude = lo\nbtl = self\n"},
                              {"home/u/.openmpi/mca-params.conf", "btl = tcp,self\n"}});
  std::vector<facts::Note> notes;
  const auto got = ReadSettings(tree, {{"HOME", "/home/u"}, {"NCCL_DEBUG", "INFO"}}, {2, 28, 9}, &notes);
  EXPECT_EQ(got.at("NCCL_DEBUG").Origin(), "environment");
  EXPECT_EQ(got.at("NCCL_IB_HCA").value, "mlx5_3");
  EXPECT_EQ(got.at("NCCL_IB_HCA").Origin(), "/home/u/.nccl.conf:1");
  EXPECT_EQ(got.at("NCCL_IB_TC").Origin(), "/etc/nccl.conf:2");
  EXPECT_EQ(got.at("OMPI_MCA_btl_tcp_if_exclude").Origin(), "/etc/openmpi/openmpi-mca-params.conf:1");
  EXPECT_EQ(got.at("OMPI_MCA_btl").value, "tcp,self") << "the user's file wins";
  EXPECT_TRUE(notes.empty());
}

TEST(ReadSettingsTest, OddFilesCostAWordOnly) {
  auto capture = hw::Capture{};
  capture.entries["etc/nccl.conf"] = hw::CaptureFailure{"EACCES"};
  const hw::CaptureTree tree(std::move(capture));
  std::vector<facts::Note> notes;
  const auto got = ReadSettings(tree, {{"NCCL_CONF_FILE", "/gone"}, {"A", "b"}}, {2, 28, 9}, &notes);
  EXPECT_EQ(got.size(), 2u);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].where, "/etc/nccl.conf");
  EXPECT_EQ(notes[1].where, "/gone");
}

TEST(ResolveForTest, TheHostAndThePartitionDecide) {
  const auto file = ParsePolicy("[[when]]\nnodes = \"n[1-2]\"\npartition = \"gpu\"\nmode = \"off\"\n", "p");
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  EXPECT_TRUE(ResolveFor(*file, {{"SLURM_JOB_PARTITION", "gpu"}}, "n1").IsOff());
  EXPECT_TRUE(ResolveFor(*file, {{"SLURM_JOB_PARTITION", "gpu"}}, "n2.cluster.example").IsOff());
  // A batch script's own node, handed on to steps on other nodes.
  EXPECT_FALSE(ResolveFor(*file, {{"SLURM_JOB_PARTITION", "gpu"}, {"SLURMD_NODENAME", "n1"}}, "n3").IsOff());
  EXPECT_TRUE(ResolveFor(*file, {{"SLURM_JOB_PARTITION", "gpu"}, {"SLURMD_NODENAME", "n3"}}, "n1").IsOff());
  EXPECT_FALSE(ResolveFor(*file, {{"SLURM_JOB_PARTITION", "cpu"}}, "n1").IsOff());
  EXPECT_FALSE(ResolveFor(*file, {}, "n1").IsOff()) << "outside a job no partition is known";
  EXPECT_FALSE(ResolveFor(*file, {{"SLURM_JOB_PARTITION", "gpu"}}, "").IsOff());
}

}  // namespace
}  // namespace nccl_tune::site
