// SPDX-License-Identifier: Apache-2.0
#include "site/read_job.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

TEST(ResolveAtTest, TheHostAndThePartitionDecide) {
  const auto file = ParsePolicy("[[when]]\nnodes = \"n[1-2]\"\npartition = \"gpu\"\nmode = \"off\"\n", "p");
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  const auto off = [&](std::optional<std::string> partition, const std::string& node) {
    std::vector<facts::Note> notes;
    const Place place{.node = node, .partition = std::move(partition), .slurm_conf = ""};
    const bool out = ResolveAt(MakeTree({}), *file, place, &notes).IsOff();
    EXPECT_EQ(notes.empty(), place.partition.has_value());
    if (!notes.empty()) {
      EXPECT_EQ(notes[0].where + ": " + notes[0].what,
                "site policy, line 1: when[1]: left out: it is for jobs of partition gpu, and outside a job none is "
                "known");
      EXPECT_TRUE(notes[0].warns);
    }
    return out;
  };
  EXPECT_TRUE(off("gpu", "n1"));
  EXPECT_TRUE(off("gpu", "n2.cluster.example"));
  EXPECT_FALSE(off("gpu", "n3"));
  EXPECT_FALSE(off("cpu", "n1"));
  EXPECT_FALSE(off(std::nullopt, "n1"));
  EXPECT_FALSE(off("gpu", ""));
}

TEST(ResolveAtTest, FeaturesComeFromSlurmsOwnFile) {
  const auto file = ParsePolicy("[[when]]\nfeature = [\"h100\", \"h200\"]\nmode = \"off\"\n", "p");
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  const auto tree = MakeTree({{"etc/slurm/slurm.conf", "NodeName=n1 Feature=ib,h200\nNodeName=n2\n"},
                              {"srv/slurm.conf", "NodeName=n[1-3] Feature=h100\n"}});
  std::vector<facts::Note> notes;
  const auto off = [&](const std::string& node, const std::string& conf = "") {
    return ResolveAt(tree, *file, {.node = node, .partition = "p", .slurm_conf = conf}, &notes).IsOff();
  };
  EXPECT_TRUE(off("n1"));
  EXPECT_FALSE(off("n2"));
  EXPECT_TRUE(off("n3.cluster", "/srv/slurm.conf"));
  EXPECT_TRUE(notes.empty());
  EXPECT_FALSE(off("n3"));
  EXPECT_EQ(notes.size(), 1U);
  EXPECT_FALSE(notes[0].warns);
}

TEST(ResolveAtTest, NoFileIsReadWithoutNeed) {
  auto capture = hw::Capture{};
  capture.entries["etc/slurm/slurm.conf"] = hw::CaptureFailure{"EACCES"};
  const hw::CaptureTree tree(std::move(capture));
  const auto file = ParsePolicy("[[when]]\nnodes = \"n1\"\nmode = \"off\"\n", "p");
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  std::vector<facts::Note> notes;
  EXPECT_TRUE(ResolveAt(tree, *file, {.node = "n1", .partition = {}, .slurm_conf = ""}, &notes).IsOff());
  EXPECT_TRUE(notes.empty());
}

TEST(PartitionOfTest, IsTheJobs) {
  EXPECT_EQ(PartitionOf({{"SLURM_JOB_PARTITION", "gpu"}}), "gpu");
  EXPECT_EQ(PartitionOf({{"SLURM_PARTITION", "gpu"}}), std::nullopt);
}

}  // namespace
}  // namespace nccl_tune::site
