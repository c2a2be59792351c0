// SPDX-License-Identifier: Apache-2.0
#include "envplugin/deadline_tree.h"

#include <gtest/gtest.h>

#include <string>

#include "base/result.h"
#include "hw/capture_tree.h"

namespace nccl_tune::envplugin {
namespace {

hw::CaptureTree SmallTree() {
  auto capture = hw::ParseCapture("nccl-tune-capture 1\n: name small\nin sys/class/x\na = 1\nb = 2\nl -> a\n", "small");
  EXPECT_TRUE(capture.ok()) << capture.error().ToString();
  return hw::CaptureTree(std::move(capture).value());
}

TEST(DeadlineTreeTest, InTimeItIsTheTreeBelow) {
  const auto below = SmallTree();
  const DeadlineTree tree(below, [] { return false; });
  EXPECT_EQ(tree.Read("sys/class/x/a").value_or(""), below.Read("sys/class/x/a").value_or("none"));
  EXPECT_EQ(tree.ReadTrusted("sys/class/x/b", 100).value_or(""), "2\n");
  EXPECT_EQ(tree.List("sys/class/x").value_or({}), below.List("sys/class/x").value_or({"none"}));
  EXPECT_EQ(tree.Resolve("sys/class/x/l").value_or(""), "sys/class/x/a");
  EXPECT_EQ(tree.CheckOpenable("dev/x"), below.CheckOpenable("dev/x"));
  std::string whole;
  EXPECT_TRUE(tree.ReadBlocks("sys/class/x/a", 100,
                              [&](std::string_view piece) {
                                whole += piece;
                                return true;
                              })
                  .ok());
  EXPECT_EQ(whole, "1\n");
  EXPECT_FALSE(tree.IsLate());
}

TEST(DeadlineTreeTest, TheAnswersBelowAreNotTouched) {
  const auto below = SmallTree();
  const DeadlineTree tree(below, [] { return false; });
  EXPECT_EQ(tree.Read("sys/class/x/none").error().code, base::Code::kNotFound);
  EXPECT_EQ(tree.List("sys/class/none").error().code, base::Code::kNotFound);
  EXPECT_FALSE(tree.Resolve("none").ok());
  EXPECT_FALSE(tree.ReadBlocks("none", 100, [](std::string_view) { return true; }).ok());
}

TEST(DeadlineTreeTest, LateNothingIsReadAndNothingComesBack) {
  const auto below = SmallTree();
  int asked = 0;
  const DeadlineTree tree(below, [&] { return ++asked > 1; });
  EXPECT_TRUE(tree.Read("sys/class/x/a").ok());
  const std::string message = "sys/class/x/a: not read: the deadline has passed";
  const auto read = tree.Read("sys/class/x/a");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, base::Code::kTimeout);
  EXPECT_EQ(read.error().ToString(), message);
  EXPECT_EQ(tree.ReadTrusted("sys/class/x/a", 100).error().ToString(), message);
  EXPECT_EQ(tree.List("sys/class/x").error().code, base::Code::kTimeout);
  EXPECT_EQ(tree.Resolve("sys/class/x/a").error().code, base::Code::kTimeout);
  EXPECT_EQ(tree.CheckOpenable("sys/class/x/a"), facts::Openable::kUnknown);
  const auto blocks = tree.ReadBlocks("sys/class/x/a", 100, [](std::string_view) { return true; });
  EXPECT_EQ(blocks.error().ToString(), message);
  EXPECT_TRUE(tree.IsLate());
  EXPECT_EQ(asked, 2) << "once late, always late";
}

TEST(DeadlineTreeTest, LateInTheMiddleOfALongFile) {
  const auto below = SmallTree();
  int asked = 0;
  const DeadlineTree tree(below, [&] { return ++asked > 1; });
  bool took = false;
  const auto blocks = tree.ReadBlocks("sys/class/x/a", 100, [&](std::string_view) { return took = true; });
  ASSERT_FALSE(blocks.ok());
  EXPECT_EQ(blocks.error().code, base::Code::kTimeout);
  EXPECT_FALSE(took);
}

}  // namespace
}  // namespace nccl_tune::envplugin
