// SPDX-License-Identifier: Apache-2.0
#include "bench/result_outlets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace nccl_tune::bench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string Folder() {
  std::string name = testing::TempDir() + "/result_outlets.XXXXXX";
  return mkdtemp(name.data()) == nullptr ? "" : name;
}

std::string Text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Told {
  explicit Told(bool progress = false) : outlets({.out = &out, .notes = &notes, .progress = progress}) {}
  ResultOutlets::Make Counts() {
    return [this] { return std::to_string(++made); };
  }
  std::ostringstream out;
  std::ostringstream notes;
  ResultOutlets outlets;
  int made = 0;
};

TEST(ResultOutletsTest, AFileHasItsTextFromTheStart) {
  const std::string folder = Folder();
  Told told;
  EXPECT_FALSE(told.outlets.has_files());
  EXPECT_EQ(told.outlets.Add(folder + "/a", told.Counts()).value_or(""), folder + "/a");
  EXPECT_EQ(told.outlets.Add(folder + "/a", [] { return "b"; }).value_or(""), folder + "/a.0");
  EXPECT_TRUE(told.outlets.has_files());
  EXPECT_EQ(Text(folder + "/a"), "1");
  told.outlets.SaveWhenDue();
  EXPECT_EQ(Text(folder + "/a"), "1") << "no second has gone by";
  told.outlets.Save();
  EXPECT_EQ(Text(folder + "/a"), "2");
  EXPECT_TRUE(told.outlets.Finish().ok());
  EXPECT_EQ(Text(folder + "/a"), "3");
  EXPECT_EQ(Text(folder + "/a.0"), "b");
  EXPECT_EQ(told.out.str() + told.notes.str(), "");
}

TEST(ResultOutletsTest, WhatCannotBeMadeIsNotAdded) {
  const std::string folder = Folder();
  Told told;
  for (const std::string& path : std::vector<std::string>{"", folder, folder + "/", folder + "/none/a",
                                                          folder + "/" + std::string(256, 'x'), "/dev/null"}) {
    EXPECT_FALSE(told.outlets.Add(path, told.Counts()).ok()) << path;
  }
  EXPECT_FALSE(told.outlets.has_files());
  EXPECT_EQ(told.made, 0);
  EXPECT_TRUE(told.outlets.Finish().ok());
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(ResultOutletsTest, ATextThatFindsNoRoomLeavesNoFile) {
  const std::string folder = Folder();
  Told told;
  // The folder goes between the name and the text.
  const auto added = told.outlets.Add(folder + "/a", [&] {
    fs::remove_all(folder);
    return "x";
  });
  ASSERT_FALSE(added.ok());
  EXPECT_THAT(added.error().ToString(), HasSubstr("/a: cannot be written: No such file or directory. Make its folder"));
  EXPECT_FALSE(told.outlets.has_files());
}

TEST(ResultOutletsTest, ARunThatDoesNotBeginLeavesNoFile) {
  const std::string folder = Folder();
  Told told;
  ASSERT_TRUE(told.outlets.Add(folder + "/a", told.Counts()).ok());
  ASSERT_TRUE(told.outlets.Add(folder + "/b", told.Counts()).ok());
  told.outlets.RemoveFiles();
  told.outlets.Save();
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(ResultOutletsTest, TroubleIsSaidOnceForEachFileAndForgivenAfterASuccess) {
  const std::string folder = Folder();
  Told told;
  ASSERT_TRUE(told.outlets.Add(folder + "/a", told.Counts()).ok());
  ASSERT_TRUE(told.outlets.Add(folder + "/b", told.Counts()).ok());
  fs::rename(folder, folder + "x");
  told.outlets.Save();
  const std::string said = told.notes.str();
  EXPECT_THAT(said, HasSubstr("nccl-bench: " + folder + "/a: cannot be written, its former content stays: No such"));
  EXPECT_THAT(said, HasSubstr("nccl-bench: " + folder + "/b: cannot be written, its former content stays: No such"));
  told.outlets.Save();
  const auto finished = told.outlets.Finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().where, folder + "/a");
  EXPECT_EQ(told.notes.str(), said);
  fs::rename(folder + "x", folder);
  EXPECT_TRUE(told.outlets.Finish().ok());
}

TEST(ResultOutletsTest, AFileOfAnotherProcessIsReplaced) {
  const std::string folder = Folder();
  Told told;
  std::ofstream(folder + "/a") << "old";
  told.outlets.AddMade(folder + "/a", told.Counts());
  EXPECT_EQ(Text(folder + "/a"), "1");
  told.outlets.AddMade(folder + "/none/a", told.Counts());
  EXPECT_THAT(told.notes.str(), HasSubstr("/none/a: cannot be written"));
  EXPECT_FALSE(told.outlets.Finish().ok());
}

TEST(ResultOutletsTest, ProgressGoesBeforeAnythingIsSaid) {
  Told told(true);
  told.outlets.Progress("one");
  told.outlets.Progress("three");
  told.outlets.Note("a note\n");
  told.outlets.ClearProgress();
  told.outlets.Write("table\n");
  EXPECT_EQ(told.notes.str(), "one\r   \rthree\r     \ra note\n");
  EXPECT_EQ(told.out.str(), "table\n");
  Told without;
  without.outlets.Progress("one");
  without.outlets.ClearProgress();
  EXPECT_EQ(without.notes.str(), "");
}

}  // namespace
}  // namespace nccl_tune::bench
