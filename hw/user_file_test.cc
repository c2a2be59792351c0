// SPDX-License-Identifier: Apache-2.0
#include "hw/user_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace nccl_tune::hw {
namespace {

namespace fs = std::filesystem;

class UserFileTest : public testing::Test {
 protected:
  UserFileTest() : folder_(fs::path(testing::TempDir()) / ("user_file." + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~UserFileTest() override { fs::remove_all(folder_); }
  std::string Path(const char* name) const { return (folder_ / name).string(); }
  void Put(const char* name, const std::string& text) const { std::ofstream(Path(name)) << text; }
  std::size_t Count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  fs::path folder_;
};

TEST_F(UserFileTest, ReadsWholeAndBounded) {
  Put("f", std::string(100000, 'x'));
  EXPECT_EQ(ReadUserFile(Path("f"), 100000)->size(), 100000u);
  EXPECT_EQ(ReadUserFile(Path("f"), 99999).error().what, "longer than 99999 bytes");
  EXPECT_EQ(ReadUserFile(Path("none"), 9).error().code, base::Code::kNotFound);
  EXPECT_FALSE(ReadUserFile(Path("."), 9).ok());
  EXPECT_EQ(ReadUserFile("/dev/zero", 1000).error().what, "longer than 1000 bytes");
  fs::create_symlink(Path("f"), Path("link"));
  EXPECT_TRUE(ReadUserFile(Path("link"), 100000).ok());
}

TEST_F(UserFileTest, APipeIsReadToItsEndAndNotForEver) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(*ReadUserFile(Path("pipe"), 9), "") << "no writer";
  const int writer = open(Path("pipe").c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_EQ(write(writer, "abc", 3), 3);
  EXPECT_EQ(ReadUserFile(Path("pipe"), 9).error().what, "nothing came for two seconds") << "a writer that stays";
  close(writer);
}

TEST_F(UserFileTest, WritesWholeAndLeavesNothingBeside) {
  EXPECT_TRUE(WriteUserFile(Path("f"), "new").ok());
  EXPECT_EQ(*ReadUserFile(Path("f"), 9), "new");
  EXPECT_TRUE(WriteUserFile(Path("f"), "newer").ok());
  EXPECT_EQ(*ReadUserFile(Path("f"), 9), "newer");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(UserFileTest, FollowsALinkToItsFile) {
  Put("f", "old");
  fs::create_symlink(Path("f"), Path("link"));
  EXPECT_TRUE(WriteUserFile(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(*ReadUserFile(Path("f"), 9), "new");
}

TEST_F(UserFileTest, WhatIsNoFileStays) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  fs::create_directory(Path("folder"));
  fs::create_symlink("/dev/null", Path("null"));
  for (const char* name : {"pipe", "folder", "null", "."}) {
    const auto got = WriteUserFile(Path(name), "x");
    ASSERT_FALSE(got.ok()) << name;
    EXPECT_EQ(got.error().what, "not replaced: it is no regular file") << name;
  }
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(Count(), 3u);
}

TEST_F(UserFileTest, NothingThatLiesBesideIsTouched) {
  Put("victim", "precious");
  fs::create_symlink(Path("victim"), Path("f.new"));
  EXPECT_TRUE(WriteUserFile(Path("f"), "x").ok());
  EXPECT_EQ(*ReadUserFile(Path("victim"), 99), "precious");
  EXPECT_FALSE(WriteUserFile(Path("no/folder/f"), "x").ok());
}

TEST_F(UserFileTest, ModesThatKeepAFileFromBeingTaken) {
  Put("f", "x");
  const auto fault = [&](mode_t mode) {
    EXPECT_EQ(chmod(Path("f").c_str(), mode), 0);
    return FindModeFault(Path("f"));
  };
  for (const mode_t good : {0644U, 0444U, 0755U}) EXPECT_EQ(fault(good), "") << good;
  for (const mode_t bad : {0664U, 0646U, 0666U, 0622U}) {
    EXPECT_EQ(fault(bad), "others than its owner may write it: chmod go-w") << bad;
  }
  for (const mode_t bad : {0600U, 0640U, 0400U, 0U})
    EXPECT_EQ(fault(bad), "only some users may read it: chmod a+r") << bad;
  EXPECT_EQ(FindModeFault(Path("gone")), "");
  EXPECT_EQ(FindModeFault(Path(".")), "");
}

TEST_F(UserFileTest, AFolderThatOnlySomeMayEnter) {
  Put("f", "x");
  ASSERT_EQ(chmod(Path(".").c_str(), 0700), 0);  // the first, unless one above it is closed too
  EXPECT_TRUE(FindClosedFolder(Path("f")).starts_with("only some users may enter the folder /")) << Path("f");
  EXPECT_EQ(FindClosedFolder("/etc/passwd"), "");
  EXPECT_EQ(FindClosedFolder(Path("gone")), "");
  EXPECT_EQ(FindClosedFolder("/dev/null"), "");
}

}  // namespace
}  // namespace nccl_tune::hw
