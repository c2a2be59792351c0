// SPDX-License-Identifier: Apache-2.0
//
// The facts and the explained plan of every captured machine are what they were when someone last looked at them.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "hw/directory_tree.h"
#include "report/rules_text.h"
#include "tests/hosts/replay.h"

namespace nccl_tune::hosts {
namespace {

constexpr const char* kFolder = "tests/hosts";
constexpr const char* kRewrite = "; after a look at the difference: bazel run //tests/hosts:update_goldens";

TEST(GoldenTest, EveryMachineIsAsItsGoldensSay) {
  const auto names = ListCaptures(kFolder);
  ASSERT_TRUE(names.ok()) << names.error().ToString();
  ASSERT_FALSE(names->empty());
  const auto goldens = hw::DirectoryTree::Open(std::string(kFolder) + "/golden");
  ASSERT_TRUE(goldens.ok()) << goldens.error().ToString() << kRewrite;
  std::set<std::string> expected_files;
  for (const auto& name : *names) {
    const auto replay = ReplayCapture(kFolder, name);
    ASSERT_TRUE(replay.ok()) << replay.error().ToString();
    for (const auto& golden : RenderGoldens(name, *replay)) {
      expected_files.insert(golden.file);
      const auto text = ReadWhole(std::string(kFolder) + "/golden/" + golden.file);
      EXPECT_TRUE(text.ok()) << golden.file << ": " << (text.ok() ? "" : text.error().what) << kRewrite;
      if (text.ok()) {
        EXPECT_EQ(golden.text, *text) << golden.file << kRewrite;
      }
    }
  }
  for (const auto& file : goldens.value()->List(".").value_or({})) {
    EXPECT_TRUE(expected_files.contains(file)) << file << " is the golden of no capture" << kRewrite;
  }
}

TEST(RulesTest, ThePageIsMadeFromTheTable) {
  const auto page = ReadWhole("docs/rules.md");
  ASSERT_TRUE(page.ok()) << page.error().ToString() << kRewrite;
  EXPECT_EQ(report::RulesMarkdown(), *page) << kRewrite;
}

TEST(ReplayTest, SaysWhatIsWrong) {
  EXPECT_EQ(ReplayCapture(kFolder, "nowhere").error().ToString(), "tests/hosts/nowhere.capture: cannot read");
  EXPECT_EQ(ReplayCapture("no/folder", "server1").error().where, "no/folder/server1.capture");
  EXPECT_FALSE(ListCaptures("no/folder").ok());
}

}  // namespace
}  // namespace nccl_tune::hosts
