// SPDX-License-Identifier: Apache-2.0
#include "launcher/write_report.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace nccl_tune::launcher {
namespace {

namespace fs = std::filesystem;

class WriteReportTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Read(const std::string& name) const {
    std::ifstream in(folder_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t Files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  std::string folder_;
};

TEST_F(WriteReportTest, MakesTheFolderAndTheFile) {
  const mode_t old = umask(027);
  const auto path = WriteReport(folder_, "failure-7.0.json", "{}\n");
  umask(old);
  ASSERT_TRUE(path.ok()) << path.error().ToString();
  EXPECT_EQ(*path, folder_ + "/failure-7.0.json");
  EXPECT_EQ(Read("failure-7.0.json"), "{}\n");
  struct stat seen {};
  ASSERT_EQ(stat(path->c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777U, 0640U);
  EXPECT_EQ(Files(), 1u);
}

TEST_F(WriteReportTest, ReplacesAnEarlierReport) {
  ASSERT_TRUE(WriteReport(folder_, "r.json", "a long first text").ok());
  ASSERT_TRUE(WriteReport(folder_, "r.json", "second").ok());
  EXPECT_EQ(Read("r.json"), "second");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(WriteReportTest, NeverFollowsALinkAtTheTarget) {
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/victim") << "mine";
  fs::create_symlink("victim", folder_ + "/r.json");
  ASSERT_TRUE(WriteReport(folder_, "r.json", "text").ok());
  EXPECT_EQ(Read("victim"), "mine");
  EXPECT_FALSE(fs::is_symlink(folder_ + "/r.json"));
  EXPECT_EQ(Read("r.json"), "text");
}

TEST_F(WriteReportTest, NeitherFollowsALinkAtTheOtherName) {
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/victim") << "mine";
  fs::create_symlink("victim", folder_ + "/.r.json." + std::to_string(getpid()));
  ASSERT_TRUE(WriteReport(folder_, "r.json", "text").ok());
  EXPECT_EQ(Read("victim"), "mine");
  EXPECT_EQ(Read("r.json"), "text");
}

TEST_F(WriteReportTest, BadFoldersAndNames) {
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/file") << "x";
  fs::create_directories(folder_ + "/taken.json");
  struct Case {
    std::string folder, name, says;
  };
  for (const auto& one : std::vector<Case>{
           {"", "r.json", "/r.json: not a folder and a file name"},
           {folder_, "", "not a folder and a file name"},
           {folder_, "a/b", "not a folder and a file name"},
           {folder_, "..", "not a folder and a file name"},
           {folder_ + "/file", "r.json", "cannot open the folder: Not a directory"},
           {folder_ + "/file/sub", "r.json", "cannot make the folder: Not a directory"},
           {folder_ + "/no/such", "r.json", "cannot make the folder: No such file or directory"},
           {"/proc", "r.json", "cannot make the file"},
           {folder_, "taken.json", "cannot write: Is a directory"},
           {folder_, std::string(300, 'n'), "cannot make the file: File name too long"},
       }) {
    const auto path = WriteReport(one.folder, one.name, "text");
    ASSERT_FALSE(path.ok()) << one.folder;
    EXPECT_NE(path.error().ToString().find(one.says), std::string::npos) << path.error().ToString();
  }
  EXPECT_EQ(Files(), 2u) << "nothing is left behind";
}

TEST_F(WriteReportTest, NoRoomLeavesNothing) {
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{.rlim_cur = 10, .rlim_max = old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto path = WriteReport(folder_, "r.json", "longer than ten bytes");
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_action);
  ASSERT_FALSE(path.ok());
  EXPECT_NE(path.error().ToString().find("cannot write: File too large"), std::string::npos) << path.error().ToString();
  EXPECT_EQ(Files(), 0u);
}

}  // namespace
}  // namespace nccl_tune::launcher
