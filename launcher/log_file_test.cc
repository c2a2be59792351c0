// SPDX-License-Identifier: Apache-2.0
#include "launcher/log_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace nccl_tune::launcher {
namespace {

std::string Folder() { return ::testing::TempDir() + "log_file_test_" + std::to_string(getpid()); }

std::string Text(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(LogFile, HasAHeaderAndTakesEveryByte) {
  auto log = LogFile::Create(Folder(), "a.log", "# rank 0");
  ASSERT_TRUE(log.ok()) << log.error().ToString();
  LogFile moved = std::move(log).value();
  EXPECT_FALSE(moved.Write("one\n").has_value());
  EXPECT_FALSE(moved.Write(std::string("\0\xff", 2)).has_value());
  EXPECT_EQ(Text(Folder() + "/a.log"), std::string("# rank 0\none\n\0\xff", 15));
  ASSERT_TRUE(LogFile::Create(Folder(), "a.log", "# again").ok());
  EXPECT_EQ(Text(Folder() + "/a.log"), "# again\n");
}

TEST(LogFile, FolderThatCannotBeUsed) {
  std::ofstream(Folder() + ".file") << "x";
  const struct {
    std::string folder;
    const char* words;
  } table[] = {
      {"/no/such/folder", "cannot be made: No such file or directory"},
      {Folder() + ".file", "cannot be written: Not a directory"},
      {Folder() + ".file/x", "cannot be made: Not a directory"},
      {"/proc/self", "cannot be written"},
      {"", "cannot be made"},
  };
  for (const auto& row : table) {
    const auto log = LogFile::Create(row.folder, "a.log", "#");
    ASSERT_FALSE(log.ok()) << row.folder;
    EXPECT_NE(log.error().ToString().find(row.words), std::string::npos) << log.error().ToString();
    EXPECT_NE(log.error().ToString().find("--log-dir"), std::string::npos);
  }
}

TEST(LogFile, LinkOfSomebodyElseIsNotFollowed) {
  ASSERT_TRUE(LogFile::Create(Folder(), "x.log", "#").ok());
  const std::string target = Folder() + "/target";
  std::ofstream(target) << "precious";
  unlink((Folder() + "/link.log").c_str());
  ASSERT_EQ(symlink(target.c_str(), (Folder() + "/link.log").c_str()), 0);
  EXPECT_FALSE(LogFile::Create(Folder(), "link.log", "#").ok());
  EXPECT_EQ(Text(target), "precious");
}

TEST(LogFile, FullDiskAtTheStartIsAnError) {
  ASSERT_TRUE(LogFile::Create(Folder(), "x.log", "#").ok());
  // A file that is always full.
  const auto log = LogFile::Create("/dev", "full", "#");
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().ToString().find("No space left on device. Make room there"), std::string::npos)
      << log.error().ToString();
}

TEST(LogFile, NamesSort) {
  EXPECT_EQ(LogName(3, 4), "rank-3.log");
  EXPECT_EQ(LogName(3, 10), "rank-3.log");
  EXPECT_EQ(LogName(3, 11), "rank-03.log");
  EXPECT_EQ(LogName(131071, 131072), "rank-131071.log");
  EXPECT_EQ(LogName(0, 0), "rank-0.log");
}

}  // namespace
}  // namespace nccl_tune::launcher
