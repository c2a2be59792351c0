// SPDX-License-Identifier: Apache-2.0
#include "tests/perf/machine_layout.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "hw/read_node.h"
#include "tests/perf/recorded_reads.h"

namespace nccl_tune::perf {
namespace {

base::Result<facts::Node> ReadMachine(const hw::Tree& tree) {
  std::vector<facts::Note> notes;
  return hw::ReadNode(tree, hw::ReadIpFiles(tree, &notes), std::nullopt);
}

TEST(MachineLayout, IsAMachineWithoutANote) {
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(LayOutMachine(folder->path(), {.hcas = 3, .gid_entries = 16, .filled = 6}).ok());
  const auto tree = hw::DirectoryTree::Open(folder->path());
  ASSERT_TRUE(tree.ok());
  const auto node = ReadMachine(**tree);
  ASSERT_TRUE(node.ok()) << node.error().ToString();
  EXPECT_TRUE(node->notes.empty()) << node->notes[0].where << ": " << node->notes[0].what;
  ASSERT_EQ(node->hcas.size(), 3U);
  EXPECT_EQ(node->hcas[2].ports.at(0).gids.size(), 6U);
  EXPECT_EQ(node->hcas[2].ports.at(0).netdev, "rail2");
  EXPECT_EQ(node->hcas[2].pci_path.size(), 1U);
  EXPECT_EQ(node->hcas[2].driver, "mlx5_core");
  EXPECT_EQ(node->hcas[2].openable, facts::Openable::kYes);
  EXPECT_EQ(node->netdevs.size(), 5U);
  EXPECT_EQ(node->gpus.size(), 3U);
}

TEST(MachineLayout, SaysWhatItCannotWrite) {
  const auto laid = LayOutMachine("/proc/no-folder-here", {.hcas = 1, .gid_entries = 4, .filled = 4});
  ASSERT_FALSE(laid.ok());
  EXPECT_EQ(laid.error().ToString(), "sys/class/infiniband: No such file or directory");
}

TEST(TemporaryFolder, GoesWithItsOwner) {
  std::string path;
  {
    const auto folder = TemporaryFolder::Make();
    ASSERT_TRUE(folder.ok());
    path = folder->path();
    EXPECT_TRUE(hw::DirectoryTree::Open(path).ok());
  }
  EXPECT_FALSE(hw::DirectoryTree::Open(path).ok());
}

TEST(RecordedReads, TheBareLoopTakesTheSameBytes) {
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(LayOutMachine(folder->path(), {.hcas = 2, .gid_entries = 16, .filled = 4}).ok());
  const auto tree = hw::DirectoryTree::Open(folder->path());
  ASSERT_TRUE(tree.ok());
  const RecordingTree recording(**tree);
  ASSERT_TRUE(ReadMachine(recording).ok());
  EXPECT_EQ(std::count(recording.paths().begin(), recording.paths().end(), "ip-addr.json"), 1);
  const hw::Descriptor root(open(folder->path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(ReadBare(root.get(), recording.paths()), recording.bytes());
  auto longer = recording.paths();
  longer.push_back("sys/class/net/lo/absent");
  EXPECT_EQ(ReadBare(root.get(), longer), recording.bytes());
  longer.push_back("sys/class/net/lo/mtu");
  EXPECT_EQ(ReadBare(root.get(), longer), recording.bytes() + 6);
}

}  // namespace
}  // namespace nccl_tune::perf
