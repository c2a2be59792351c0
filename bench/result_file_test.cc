// SPDX-License-Identifier: Apache-2.0
#include "bench/result_file.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace nccl_tune::bench {
namespace {

namespace fs = std::filesystem;

class ResultFileTest : public testing::Test {
 protected:
  ResultFileTest() : folder_(fs::path(testing::TempDir()) / ("result_file." + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~ResultFileTest() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  void Put(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }
  std::string Get(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }
  std::size_t Count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  fs::path folder_;
};

TEST(IsJsonNameTest, BySuffixAlone) {
  for (const char* name : {"a.json", "a.JSON", "a.b.json", "./a.Json", "/x/y.json", ".json", "x/.json"}) {
    EXPECT_TRUE(IsJsonName(name)) << name;
  }
  for (const char* name :
       {"", "json", "a", "a.", "a.json.", "a.jsonl", "a.json/b", "a.json/", "a.txt", "a_json", "x.d/json"}) {
    EXPECT_FALSE(IsJsonName(name)) << name;
  }
}

TEST_F(ResultFileTest, TakesTheNameAtOnceAndReplacesTheContent) {
  const mode_t before = umask(027);
  auto file = ResultFile::Create(Path("a.json"));
  umask(before);
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  EXPECT_EQ(file->path(), Path("a.json"));
  EXPECT_EQ(Get("a.json"), "");
  for (const char* text : {"one", "three", "", "2"}) {
    ASSERT_TRUE(file.value().Update(text).ok());
    EXPECT_EQ(Get("a.json"), text);
  }
  EXPECT_EQ(Count(), 1U);
  struct stat there {};
  ASSERT_EQ(stat(Path("a.json").c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777U, 0640U);
}

TEST_F(ResultFileTest, WhatIsThereStays) {
  Put("a.json", "precious");
  Put("a.json.0", "too");
  fs::create_symlink("nowhere", Path("a.json.1"));
  fs::create_directory(Path("a.json.2"));
  auto file = ResultFile::Create(Path("a.json"));
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  EXPECT_EQ(file->path(), Path("a.json.3"));
  ASSERT_TRUE(file.value().Update("new").ok());
  EXPECT_EQ(Get("a.json"), "precious");
  EXPECT_EQ(Get("a.json.0"), "too");
  EXPECT_EQ(Get("a.json.3"), "new");
  EXPECT_FALSE(fs::exists(Path("nowhere")));
  EXPECT_EQ(ResultFile::Create(Path("a.json"))->path(), Path("a.json.4"));
}

TEST_F(ResultFileTest, ALinkIsNotFollowed) {
  Put("victim", "precious");
  fs::create_symlink("victim", Path("a.json"));
  auto file = ResultFile::Create(Path("a.json"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->path(), Path("a.json.0"));
  // One that is put in its place later is replaced, not followed.
  fs::remove(Path("a.json.0"));
  fs::create_symlink("victim", Path("a.json.0"));
  ASSERT_TRUE(file.value().Update("new").ok());
  EXPECT_EQ(Get("victim"), "precious");
  EXPECT_EQ(Get("a.json.0"), "new");
}

TEST_F(ResultFileTest, NamesThatCannotBe) {
  Put("file", "");
  fs::create_directory(Path("folder"));
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/full", Path("link"));
  const std::string no_file = ": cannot be made: what is there is no regular file. Name a file";
  const std::string missing =
      ": cannot be made: No such file or directory. Make its folder first, or name a file in one that exists";
  struct Case {
    std::string path;
    std::string message;
  };
  const std::string too_long = Path(std::string(256, 'x'));
  for (const Case& one : std::vector<Case>{
           {"", "cannot be made: no name. Name a file"},
           {Path("folder"), Path("folder") + no_file},
           {Path("folder/"), Path("folder/") + ": cannot be made: this is the name of a folder. Name a file in it"},
           {Path("none/"), Path("none/") + ": cannot be made: this is the name of a folder. Name a file in it"},
           {Path("a.json/"), Path("a.json/") + ": cannot be made: this is the name of a folder. Name a file in it"},
           {"/", "/: cannot be made: this is the name of a folder. Name a file in it"},
           {Path("pipe"), Path("pipe") + no_file},
           {Path("link"), Path("link") + no_file},
           {"/dev/full", "/dev/full" + no_file},
           {"/dev/null", "/dev/null" + no_file},
           {".", "." + no_file},
           {Path("none/a.json"), Path("none/a.json") + missing},
           {Path("file/a.json"), Path("file/a.json") +
                                     ": cannot be made: Not a directory. Make its folder first, or name a file in one "
                                     "that exists"},
       }) {
    const auto got = ResultFile::Create(one.path);
    ASSERT_FALSE(got.ok()) << one.path;
    EXPECT_EQ(got.error().ToString(), one.message);
  }
  const auto got = ResultFile::Create(too_long);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().what, "cannot be made: File name too long");
  EXPECT_EQ(got.error().hint, "Name a shorter one: the part behind the last / has at most 255 bytes");
  EXPECT_EQ(Count(), 4U);
}

TEST_F(ResultFileTest, TheLongestNamesAreWritten) {
  for (const std::size_t size : {247U, 248U, 249U, 254U, 255U}) {
    const std::string name(size, 'x');
    auto file = ResultFile::Create(Path(name));
    ASSERT_TRUE(file.ok()) << size;
    EXPECT_TRUE(file.value().Update("text").ok()) << size;
    EXPECT_EQ(Get(name), "text");
  }
  EXPECT_EQ(Count(), 5U);
  EXPECT_FALSE(ResultFile::Create(Path(std::string(255, 'x'))).ok()) << "it is there, and .0 is too much";
}

TEST_F(ResultFileTest, AFileThatAnotherProcessHasMade) {
  Put("a.json", "old");
  auto file = ResultFile::Made(Path("a.json"));
  ASSERT_TRUE(file.Update("new").ok());
  EXPECT_EQ(Get("a.json"), "new");
  file.Remove();
  EXPECT_EQ(Count(), 0U);
}

TEST_F(ResultFileTest, AFolderThatMayNotBeWritten) {
  // Also root may make no file there.
  const auto got = ResultFile::Create("/sys/kernel/a.json");
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, base::Code::kForbidden);
  EXPECT_EQ(got.error().hint, "Name a file in a folder that you may write to");
}

TEST_F(ResultFileTest, AFolderThatGoesAway) {
  fs::create_directory(Path("folder"));
  auto file = ResultFile::Create(Path("folder/a.json"));
  ASSERT_TRUE(file.ok());
  fs::remove_all(Path("folder"));
  const auto got = file.value().Update("x");
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().where, Path("folder/a.json"));
  EXPECT_EQ(got.error().code, base::Code::kNotFound);
}

TEST_F(ResultFileTest, AFullQuotaLeavesTheFormerContent) {
  auto file = ResultFile::Create(Path("a.json"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file.value().Update("whole").ok());
  struct rlimit before {};
  getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit small { .rlim_cur = 1000, .rlim_max = before.rlim_max };
  const auto old = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto got = file.value().Update(std::string(5000, 'x'));
  const auto fits = file.value().Update("newer");
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().ToString(), Path("a.json") +
                                        ": cannot be written, its former content stays: File too large. Make room "
                                        "there, or name a file elsewhere");
  EXPECT_TRUE(fits.ok()) << "an error does not end it";
  EXPECT_EQ(Get("a.json"), "newer");
  EXPECT_EQ(Count(), 1U);
}

// In a child: a disk of 64 KiB. Its exit status: 0 as expected, 77 where no disk can be made, else the failed step.
int OnASmallDisk(const std::string& folder) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  if (mount("none", folder.c_str(), "tmpfs", 0, "size=64k") != 0) return 77;
  auto file = ResultFile::Create(folder + "/a.json");
  if (!file.ok() || !file.value().Update("whole").ok()) return 1;
  const auto got = file.value().Update(std::string(1U << 20U, 'x'));
  if (got.ok() || got.error().what != "cannot be written, its former content stays: No space left on device") return 2;
  std::ostringstream text;
  text << std::ifstream(folder + "/a.json").rdbuf();
  if (text.str() != "whole") return 3;
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1 ? 0 : 4;
}

TEST_F(ResultFileTest, AFullDiskLeavesTheFormerContent) {
  fs::create_directory(Path("disk"));
  const pid_t child = fork();
  if (child == 0) _exit(OnASmallDisk(Path("disk")));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_EQ(status, 0) << "step " << WEXITSTATUS(status);
}

TEST_F(ResultFileTest, KilledAtAnyMomentTheFileIsWhole) {
  auto file = ResultFile::Create(Path("a.json"));
  ASSERT_TRUE(file.ok());
  constexpr std::size_t kSize = 1U << 20U;
  ASSERT_TRUE(file.value().Update(std::string(kSize, '0')).ok());
  const pid_t child = fork();
  if (child == 0) {
    for (char c = 'a';; c = c == 'z' ? 'a' : static_cast<char>(c + 1))
      (void)file.value().Update(std::string(kSize, c)).ok();
  }
  for (int i = 0; i < 20; ++i) {
    const std::string text = Get("a.json");
    ASSERT_EQ(text.size(), kSize);
    EXPECT_EQ(text.find_first_not_of(text[0]), std::string::npos);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const std::string text = Get("a.json");
  ASSERT_EQ(text.size(), kSize);
  EXPECT_EQ(text.find_first_not_of(text[0]), std::string::npos);
}

TEST_F(ResultFileTest, OnceASecond) {
  auto file = ResultFile::Create(Path("a.json"));
  ASSERT_TRUE(file.ok());
  const auto start = ResultFile::Clock::now();
  EXPECT_TRUE(file->IsDue(start)) << "the first at once";
  ASSERT_TRUE(file.value().Update("x").ok());
  const auto end = ResultFile::Clock::now();
  EXPECT_FALSE(file->IsDue(end));
  EXPECT_FALSE(file->IsDue(start + std::chrono::milliseconds(999)));
  EXPECT_TRUE(file->IsDue(end + std::chrono::seconds(1) + 10 * (end - start)));
}

TEST_F(ResultFileTest, NoTextIsMadeBeforeItIsDue) {
  auto file = ResultFile::Create(Path("a.json"));
  ASSERT_TRUE(file.ok());
  int made = 0;
  const auto make = [&] { return std::to_string(++made); };
  EXPECT_TRUE(file.value().UpdateIfDue(make).ok());
  EXPECT_TRUE(file.value().UpdateIfDue(make).ok());
  EXPECT_EQ(made, 1);
  EXPECT_EQ(Get("a.json"), "1");
  fs::remove_all(Path("a.json"));
  EXPECT_TRUE(file.value().UpdateIfDue(make).ok()) << "not due: nothing to fail at";
}

TEST_F(ResultFileTest, AnErrorOfADueUpdateIsTold) {
  fs::create_directory(Path("folder"));
  auto file = ResultFile::Create(Path("folder/a.json"));
  ASSERT_TRUE(file.ok());
  fs::remove_all(Path("folder"));
  EXPECT_FALSE(file.value().UpdateIfDue([] { return std::string("x"); }).ok());
}

}  // namespace
}  // namespace nccl_tune::bench
