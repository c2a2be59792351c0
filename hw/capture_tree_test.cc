// SPDX-License-Identifier: Apache-2.0
#include "hw/capture_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace nccl_tune::hw {
namespace {

CaptureTree MakeTree() {
  Capture capture;
  auto& e = capture.entries;
  e["sys/devices/card/state"] = CaptureFile{"4: ACTIVE\n"};
  e["sys/devices/card/limits"] = CaptureFile{std::string(Tree::kAttributeLimit, 'x')};
  e["sys/devices/card/huge"] = CaptureFile{std::string(Tree::kAttributeLimit + 1, 'x')};
  e["sys/devices/card/self"] = CaptureLink{"."};
  e["sys/class/net/eth0"] = CaptureLink{"../../devices/card"};
  e["sys/class/net/absolute"] = CaptureLink{"/sys/devices/card"};
  e["sys/class/net/out"] = CaptureLink{"../../../../../sys/devices/card"};
  e["sys/class/net/outside"] = CaptureLink{"../../../../etc/passwd"};
  e["sys/class/net/loop"] = CaptureLink{"loop"};
  e["sys/class/net/ping"] = CaptureLink{"pong"};
  e["sys/class/net/pong"] = CaptureLink{"ping"};
  e["sys/class/net/dangling"] = CaptureLink{"nowhere"};
  e["gids/0"] = CaptureFile{"x\n"};
  e["gids/4"] = CaptureFailure{"EINVAL"};
  e["gids/5"] = CaptureFailure{"EACCES"};
  e["gids/6"] = CaptureFailure{"EIO"};
  e["gids/7"] = CaptureFailure{"ENODATA"};
  e["gids/10"] = CaptureFile{"x\n"};
  e["empty"] = CaptureFolder{};
  e["dev/infiniband/uverbs0"] = CaptureDevice{true};
  e["dev/infiniband/uverbs1"] = CaptureDevice{false};
  e["dev/infiniband/file"] = CaptureFile{"x\n"};
  e["dev/link"] = CaptureLink{"infiniband/uverbs0"};
  return CaptureTree(std::move(capture));
}

TEST(CaptureTreeTest, ReadsThroughLinks) {
  const auto tree = MakeTree();
  for (const char* path :
       {"sys/devices/card/state", "sys/class/net/eth0/state", "sys/class/net/absolute/state", "sys/class/net/out/state",
        "sys/class/net/eth0/self/self/state", "sys/class/net/eth0/../card/state", "sys/./class//net/eth0/state"}) {
    const auto got = tree.Read(path);
    ASSERT_TRUE(got.ok()) << path << ": " << got.error().ToString();
    EXPECT_EQ(*got, "4: ACTIVE\n") << path;
    EXPECT_EQ(*tree.Resolve(path), "sys/devices/card/state") << path;
  }
  EXPECT_EQ(tree.Read("sys/devices/card/limits")->size(), Tree::kAttributeLimit);
}

TEST(CaptureTreeTest, TellsTheWaysToFailApart) {
  const struct {
    const char* path;
    base::Code code;
    const char* what;
  } rows[] = {
      {"nowhere", base::Code::kNotFound, "No such file or directory"},
      {"sys/class/net/eth0/nothing", base::Code::kNotFound, "No such file or directory"},
      {"sys/devices/card/state/below", base::Code::kNotFound, "No such file or directory"},
      {"sys/class/net/dangling", base::Code::kNotFound, "No such file or directory"},
      {"sys/class/net/outside", base::Code::kNotFound, "No such file or directory"},
      {"sys/class/net/loop", base::Code::kUnreadable, "too many levels of links"},
      {"sys/class/net/ping", base::Code::kUnreadable, "too many levels of links"},
      {"sys/class/net/loop/x", base::Code::kUnreadable, "too many levels of links"},
      {"gids/4", base::Code::kUnreadable, "EINVAL"},
      {"gids/5", base::Code::kForbidden, "EACCES"},
      {"gids/6", base::Code::kUnreadable, "EIO"},
      {"gids/7", base::Code::kUnreadable, "ENODATA"},
      {"empty", base::Code::kUnreadable, "not a file"},
      {"sys/devices", base::Code::kUnreadable, "not a file"},
      {"dev/infiniband/uverbs0", base::Code::kUnreadable, "not a file"},
      {"sys/devices/card/huge", base::Code::kUnreadable, "longer than 65536 bytes"},
  };
  const auto tree = MakeTree();
  for (const auto& row : rows) {
    const auto got = tree.Read(row.path);
    ASSERT_FALSE(got.ok()) << row.path;
    EXPECT_EQ(got.error().code, row.code) << row.path;
    EXPECT_EQ(got.error().what, row.what) << row.path;
    EXPECT_EQ(got.error().where, row.path);
  }
  EXPECT_EQ(tree.Read("sys/devices/card/state", 4).error().what, "longer than 4 bytes");
  EXPECT_TRUE(tree.Read("sys/devices/card/state", 10).ok());
}

// Each entry brings the folders above it; many files of one deep folder bring them once.
TEST(CaptureTreeTest, ManyFilesInADeepFolderCostNoMoreThanTheFiles) {
  std::string folder = "a";
  for (int depth = 1; depth < 400; ++depth) folder += "/a";
  Capture capture;
  for (int file = 0; file < 20'000; ++file) {
    capture.entries.emplace(folder + "/" + std::to_string(file), CaptureFile{"x\n"});
  }
  const CaptureTree tree(std::move(capture));
  EXPECT_EQ(tree.List(folder)->size(), 20'000u);
  EXPECT_EQ(tree.capture().entries.size(), 20'400u);
  EXPECT_TRUE(tree.List("a").ok());
}

TEST(CaptureTreeTest, ListsByBytes) {
  using Names = std::vector<std::string>;
  const auto tree = MakeTree();
  EXPECT_EQ(*tree.List("gids"), (Names{"0", "10", "4", "5", "6", "7"}));
  EXPECT_EQ(*tree.List("sys"), (Names{"class", "devices"}));
  EXPECT_EQ(*tree.List("sys/class/net/eth0"), (Names{"huge", "limits", "self", "state"}));
  EXPECT_EQ(*tree.List("empty"), Names{});
  EXPECT_EQ(*tree.List("."), (Names{"dev", "empty", "gids", "sys"}));
  for (const char* path : {"nowhere", "gids/0", "gids/4", "dev/infiniband/uverbs0", "sys/class/net/dangling"}) {
    ASSERT_FALSE(tree.List(path).ok()) << path;
    EXPECT_EQ(tree.List(path).error().code, base::Code::kNotFound) << path;
  }
  EXPECT_EQ(tree.List("sys/class/net/loop").error().code, base::Code::kUnreadable);
}

TEST(CaptureTreeTest, KnowsWhatCanBeOpened) {
  using facts::Openable;
  const auto tree = MakeTree();
  EXPECT_EQ(tree.CheckOpenable("dev/infiniband/uverbs0"), Openable::kYes);
  EXPECT_EQ(tree.CheckOpenable("dev/link"), Openable::kYes);
  EXPECT_EQ(tree.CheckOpenable("dev/infiniband/uverbs1"), Openable::kNo);
  EXPECT_EQ(tree.CheckOpenable("dev/infiniband/file"), Openable::kNo);
  EXPECT_EQ(tree.CheckOpenable("dev/infiniband/uverbs2"), Openable::kMissing);
  Capture without;
  without.entries["sys/x"] = CaptureFile{"1\n"};
  EXPECT_EQ(CaptureTree(without).CheckOpenable("dev/infiniband/uverbs0"), Openable::kUnknown);
  without.entries["dev"] = CaptureFolder{};
  EXPECT_EQ(CaptureTree(without).CheckOpenable("dev/infiniband/uverbs0"), Openable::kMissing);
}

}  // namespace
}  // namespace nccl_tune::hw
