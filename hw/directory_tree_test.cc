// SPDX-License-Identifier: Apache-2.0
#include "hw/directory_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nccl_tune::hw {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test: "root" is the tree, "outside" lies beside it.
class DirectoryTreeTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* base = std::getenv("TEST_TMPDIR");
    std::string name = std::string(base == nullptr ? "/tmp" : base) + "/tree.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    home_ = name;
    fs::create_directories(home_ / "root");
    Write("outside", "secret\n");
    auto tree = DirectoryTree::Open(home_ / "root");
    ASSERT_TRUE(tree.ok()) << tree.error().ToString();
    tree_ = std::move(tree).value();
  }
  void TearDown() override { fs::remove_all(home_); }

  // `path` is relative to the test's folder, not to the root.
  void Write(const std::string& path, std::string_view text) {
    fs::create_directories((home_ / path).parent_path());
    std::ofstream(home_ / path, std::ios::binary) << text;
  }
  void Link(const std::string& path, const std::string& target) {
    fs::create_directories((home_ / path).parent_path());
    fs::create_symlink(target, home_ / path);
  }

  fs::path home_;
  std::unique_ptr<DirectoryTree> tree_;
};

// Runs `work` in a forked child under an ordinary user's ids. Its answer, or -1 where this process cannot change to
// one.
int AsAnotherUser(const std::function<int()>& work) {
  constexpr uid_t kNobody = 65534;
  constexpr int kCannot = 99;
  const pid_t pid = fork();
  if (pid == 0) {
    if (getuid() == 0 && (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0)) {
      _exit(kCannot);
    }
    _exit(work());
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return 98;
  return WEXITSTATUS(status) == kCannot ? -1 : WEXITSTATUS(status);
}

TEST_F(DirectoryTreeTest, ReadsFilesAndLinks) {
  Write("root/sys/devices/card/state", "4: ACTIVE\n");
  Write("root/sys/devices/card/empty", "");
  Link("root/sys/class/net/eth0", "../../devices/card");
  Link("root/sys/class/net/absolute", "/sys/devices/card");
  Link("root/sys/class/net/state", "eth0/state");
  for (const char* path :
       {"sys/devices/card/state", "sys/class/net/eth0/state", "sys/class/net/absolute/state", "sys/class/net/state"}) {
    const auto got = tree_->Read(path);
    ASSERT_TRUE(got.ok()) << path << ": " << got.error().ToString();
    EXPECT_EQ(*got, "4: ACTIVE\n") << path;
    EXPECT_EQ(*tree_->Resolve(path), "sys/devices/card/state") << path;
  }
  EXPECT_EQ(*tree_->Read("sys/devices/card/empty"), "");
  EXPECT_EQ(*tree_->Resolve("."), "");
}

TEST_F(DirectoryTreeTest, NoLinkLeavesTheRoot) {
  Link("root/up", "../outside");
  Link("root/far", "../../../../../../../../../../etc/passwd");
  Link("root/absolute", (home_ / "outside").string());
  Link("root/folder", "..");
  for (const char* path : {"up", "far", "absolute", "folder/outside", "../outside", "root/../../outside"}) {
    const auto got = tree_->Read(path);
    ASSERT_FALSE(got.ok()) << path << " gave " << *got;
    EXPECT_FALSE(tree_->Exists(path)) << path;
    EXPECT_FALSE(tree_->List(path).ok()) << path;
  }
}

TEST_F(DirectoryTreeTest, TellsTheWaysToFailApart) {
  Write("root/file", "x\n");
  Write("root/folder/file", "x\n");
  Link("root/loop", "loop");
  Link("root/dangling", "nowhere");
  const struct {
    const char* path;
    base::Code code;
    const char* what;
  } rows[] = {
      {"nowhere", base::Code::kNotFound, "No such file or directory"},
      {"no/where", base::Code::kNotFound, "No such file or directory"},
      {"file/below", base::Code::kNotFound, "Not a directory"},
      {"dangling", base::Code::kNotFound, "No such file or directory"},
      {"loop", base::Code::kUnreadable, "Too many levels of symbolic links"},
      {"folder", base::Code::kUnreadable, "Is a directory"},
  };
  for (const auto& row : rows) {
    const auto got = tree_->Read(row.path);
    ASSERT_FALSE(got.ok()) << row.path;
    EXPECT_EQ(got.error().code, row.code) << row.path;
    EXPECT_EQ(got.error().what, row.what) << row.path;
    EXPECT_EQ(got.error().where, row.path);
  }
  EXPECT_FALSE(tree_->List("file").ok());
  EXPECT_EQ(tree_->List("nowhere").error().code, base::Code::kNotFound);
  EXPECT_EQ(tree_->Resolve("dangling").error().code, base::Code::kNotFound);
  EXPECT_TRUE(tree_->Read("file").ok());
}

TEST_F(DirectoryTreeTest, StopsAtTheLimit) {
  Write("root/full", std::string(Tree::kAttributeLimit, 'x'));
  Write("root/over", std::string(Tree::kAttributeLimit + 1, 'x'));
  Write("root/huge", "");
  ASSERT_EQ(truncate((home_ / "root/huge").c_str(), off_t{1} << 40), 0);  // a hole: takes no room
  EXPECT_EQ(tree_->Read("full")->size(), Tree::kAttributeLimit);
  EXPECT_EQ(tree_->Read("over").error().what, "longer than 65536 bytes");
  EXPECT_EQ(tree_->Read("over", 100 << 10)->size(), Tree::kAttributeLimit + 1);
  EXPECT_EQ(tree_->Read("huge").error().what, "longer than 65536 bytes");
  EXPECT_EQ(tree_->Read("huge", 1 << 20).error().code, base::Code::kUnreadable);
  EXPECT_EQ(tree_->Read("full", 10).error().what, "longer than 10 bytes");
}

// procfs ends a read with the last whole line that fits, so the first short read is not the end of the file.
TEST_F(DirectoryTreeTest, ReadsLongProcFilesToTheirEnd) {
  const auto proc = DirectoryTree::Open("/proc/self");
  ASSERT_TRUE(proc.ok());
  const auto got = proc.value()->Read("smaps", 64 << 20);
  ASSERT_TRUE(got.ok());
  EXPECT_GT(got->size(), 4096u);
  EXPECT_NE(got->find("[stack]"), std::string::npos);
  EXPECT_EQ(got->back(), '\n');
}

TEST_F(DirectoryTreeTest, AFifoDoesNotStopIt) {
  const std::string fifo = home_ / "root/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto alone = tree_->Read("fifo");
  EXPECT_TRUE(!alone.ok() || alone->empty());
  const Descriptor reader(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const Descriptor writer(open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(writer.valid());
  const auto open_end = tree_->Read("fifo");
  ASSERT_FALSE(open_end.ok());
  EXPECT_EQ(open_end.error().code, base::Code::kUnreadable);
}

TEST_F(DirectoryTreeTest, ReadsInPieces) {
  constexpr std::size_t kLong = 600000;
  Write("root/long", std::string(kLong, 'x'));
  Link("root/link", "/long");
  for (const char* path : {"long", "link"}) {
    std::size_t got = 0;
    int pieces = 0;
    const auto done = tree_->ReadBlocks(path, kLong, [&](std::string_view block) {
      got += block.size();
      ++pieces;
      return true;
    });
    EXPECT_TRUE(done.ok()) << path;
    EXPECT_EQ(got, kLong) << path;
    EXPECT_GT(pieces, 1) << path;
  }
  int pieces = 0;
  const auto stop_at_once = [&](std::string_view) { return ++pieces < 1; };
  EXPECT_TRUE(tree_->ReadBlocks("long", kLong, stop_at_once).ok());
  EXPECT_EQ(pieces, 1);
  EXPECT_TRUE(tree_->ReadBlocks("long", kLong, [](std::string_view) { return false; }).ok());
}

TEST_F(DirectoryTreeTest, ReadsInPiecesOnlyRegularFilesWithinTheLimit) {
  Write("root/long", std::string(600000, 'x'));
  Write("root/folder/file", "x");
  Write("root/empty", "");
  Link("root/out", "../../outside");
  ASSERT_EQ(mkfifo((home_ / "root/fifo").c_str(), 0600), 0);
  const struct {
    const char* path;
    const char* message;
  } rows[] = {
      {"long", "long: longer than 300000 bytes"}, {"folder", "folder: not a regular file"},
      {"fifo", "fifo: not a regular file"},       {"none", "none: No such file or directory"},
      {"out", "out: No such file or directory"},  {"folder/file/x", "folder/file/x: Not a directory"},
  };
  for (const auto& row : rows) {
    const auto done = tree_->ReadBlocks(row.path, 300000, [](std::string_view) { return true; });
    ASSERT_FALSE(done.ok()) << row.path;
    EXPECT_EQ(done.error().ToString(), row.message);
  }
  EXPECT_TRUE(tree_->ReadBlocks("empty", 1, [](std::string_view) { return true; }).ok());
}

TEST_F(DirectoryTreeTest, ListsByBytes) {
  for (const char* name : {"10", "2", "eth0", "Eth0", ".hidden"}) Write(std::string("root/gids/") + name, "x\n");
  fs::create_directories(home_ / "root/empty");
  EXPECT_EQ(*tree_->List("gids"), (std::vector<std::string>{".hidden", "10", "2", "Eth0", "eth0"}));
  EXPECT_TRUE(tree_->List("empty")->empty());
}

// A few folders stay open for the next question, however many were asked about.
TEST_F(DirectoryTreeTest, ManyReadsHoldFewDescriptors) {
  constexpr int kHeld = 8;
  const auto count = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()); };
  const auto before = count();
  for (int i = 0; i < 100; ++i) {
    const std::string folder = "f" + std::to_string(i % 10);
    Write("root/" + folder + "/x", folder);
    for (int repeat = 0; repeat < 7; ++repeat) {
      EXPECT_EQ(*tree_->Read(folder + "/x"), folder);
      EXPECT_FALSE(tree_->Read(folder + "/y").ok());
      EXPECT_FALSE(tree_->Read("c/x").ok());
    }
    EXPECT_TRUE(tree_->List(folder).ok());
    EXPECT_FALSE(tree_->List(folder + "/x").ok());
    EXPECT_LE(count(), before + kHeld);
  }
}

// The answers are the same before and after the folder is kept open.
TEST_F(DirectoryTreeTest, AnOpenFolderAnswersTheSame) {
  Write("root/a/x", "1\n");
  Write("root/b/y", "2\n");
  Write("secret", "3\n");
  fs::create_symlink("../b/y", home_ / "root/a/link");
  fs::create_symlink("../../secret", home_ / "root/a/out");
  fs::create_symlink("nowhere", home_ / "root/a/dangling");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(*tree_->Read("a/x"), "1\n");
    EXPECT_EQ(*tree_->Read("a/link"), "2\n");
    EXPECT_EQ(tree_->Read("a/out").error().code, base::Code::kNotFound);
    EXPECT_EQ(tree_->Read("a/absent").error().code, base::Code::kNotFound);
    EXPECT_EQ(tree_->Read("a/absent").error().where, "a/absent");
    EXPECT_EQ(*tree_->Resolve("a/x"), "a/x");
    EXPECT_EQ(*tree_->Resolve("a/link"), "b/y");
    EXPECT_EQ(tree_->Resolve("a/out").error().code, base::Code::kNotFound);
    EXPECT_EQ(tree_->Resolve("a/dangling").error().code, base::Code::kNotFound);
    EXPECT_EQ(tree_->Resolve("a/absent").error().code, base::Code::kNotFound);
    EXPECT_EQ(tree_->CheckOpenable("a/x"), facts::Openable::kYes);
    EXPECT_EQ(tree_->CheckOpenable("a/absent"), facts::Openable::kMissing);
  }
}

// Once a folder is open, what lies below it is taken from there: no way to write a path leads elsewhere.
TEST_F(DirectoryTreeTest, BelowAnOpenFolderAsFromTheRoot) {
  Write("root/a/b/c/x", "1\n");
  Write("root/d/y", "2\n");
  Link("root/class/b", "../a/b");
  Link("root/class/absolute", "/d");
  Link("root/class/out", "../../../outside");
  Link("root/a/b/link", "../../class/absolute");
  Link("root/a/up", "..");
  const struct {
    const char* path;
    const char* text;  // none: not found
    const char* place;
  } rows[] = {
      {"a/b/c/x", "1\n", "a/b/c/x"},
      {"class/b/c/x", "1\n", "a/b/c/x"},
      {"class/absolute/y", "2\n", "d/y"},
      {"a/b/link/y", "2\n", "d/y"},
      {"a/b/../../d/y", "2\n", "d/y"},
      {"a//b/./c/x", "1\n", "a/b/c/x"},
      {"/a/b/c/x", "1\n", "a/b/c/x"},
      {"a/up/../../d/y", "2\n", "d/y"},
      {"../../a/b/c/x", "1\n", "a/b/c/x"},
      {"class/out", "", ""},
      {"a/../../outside", "", ""},
      {"a/up/outside", "", ""},
      {"a/b/c/../../../../outside", "", ""},
      {"a/b/c/x/", "", ""},
      {"a/b/c/x/y", "", ""},
      {"a/b/none/x", "", ""},
  };
  for (int round = 0; round < 3; ++round) {
    for (const auto& row : rows) {
      EXPECT_EQ(tree_->Read(row.path).value_or(""), row.text) << row.path;
      EXPECT_EQ(tree_->Resolve(row.path).value_or(""), row.place) << row.path;
    }
    for (const char* folder : {".", "a", "a/b", "a/b/c", "class", "class/b", "d"}) {
      EXPECT_TRUE(tree_->List(folder).ok()) << folder;
    }
  }
}

TEST_F(DirectoryTreeTest, AnOpenFolderIsNoWayOut) {
  Write("root/a/b/x", "1\n");
  ASSERT_TRUE(tree_->List("a/b").ok());
  const std::string outside = (home_ / "outside").string();  // begins with a slash
  for (const std::string& path : {"a/b" + outside, "a/b/" + outside, "a/b/../../.." + outside,
                                  std::string("a/b/../../../outside"), std::string("a/b/../../outside")}) {
    EXPECT_EQ(tree_->Read(path).error().code, base::Code::kNotFound) << path;
    EXPECT_EQ(tree_->Resolve(path).error().code, base::Code::kNotFound) << path;
    EXPECT_EQ(tree_->List(path).error().code, base::Code::kNotFound) << path;
  }
  EXPECT_EQ(*tree_->Read("a/b//x"), "1\n");
}

TEST_F(DirectoryTreeTest, AForbiddenFileIsForbidden) {
  Write("root/secret", "x\n");
  Write("root/closed/file", "x\n");
  fs::permissions(home_ / "root/secret", fs::perms::none);
  fs::permissions(home_ / "root/closed", fs::perms::none);
  fs::permissions(home_ / "root", fs::perms(0755));
  const int got = AsAnotherUser([this] {
    const auto file = tree_->Read("secret");
    const auto below = tree_->Read("closed/file");
    const auto folder = tree_->List("closed");
    if (file.ok() || file.error().code != base::Code::kForbidden || file.error().what != "Permission denied") return 1;
    if (below.ok() || below.error().code != base::Code::kForbidden) return 2;
    return folder.ok() || folder.error().code != base::Code::kForbidden ? 3 : 0;
  });
  fs::permissions(home_ / "root/closed", fs::perms(0700));
  if (got < 0) GTEST_SKIP() << "root of a namespace with no other user in it";
  EXPECT_EQ(got, 0);
}

TEST_F(DirectoryTreeTest, OpenableFollowsTheFileMode) {
  using facts::Openable;
  EXPECT_EQ(tree_->CheckOpenable("dev/infiniband/uverbs0"), Openable::kUnknown);
  fs::create_directories(home_ / "root/dev");
  EXPECT_EQ(tree_->CheckOpenable("dev/infiniband/uverbs0"), Openable::kMissing);
  const struct {
    const char* name;
    fs::perms mode;
    Openable expected;
  } rows[] = {
      {"all", fs::perms(0666), Openable::kYes},
      {"none", fs::perms(0000), Openable::kNo},
      {"read", fs::perms(0444), Openable::kNo},
      {"write", fs::perms(0222), Openable::kNo},
  };
  for (const auto& row : rows) {
    const std::string path = std::string("dev/infiniband/") + row.name;
    Write("root/" + path, "");
    fs::permissions(home_ / "root" / path, row.mode);
  }
  EXPECT_EQ(tree_->CheckOpenable("dev/infiniband/uverbs0"), Openable::kMissing);
  fs::permissions(home_ / "root", fs::perms(0755));
  const int got = AsAnotherUser([&] {
    for (std::size_t i = 0; i < std::size(rows); ++i) {
      if (tree_->CheckOpenable(std::string("dev/infiniband/") + rows[i].name) != rows[i].expected)
        return static_cast<int>(i) + 1;
    }
    return tree_->CheckOpenable("dev/infiniband/uverbs0") == Openable::kMissing ? 0 : 10;
  });
  if (got < 0) GTEST_SKIP() << "root of a namespace with no other user in it";
  EXPECT_EQ(got, 0) << "row, counted from 1";
}

TEST(DirectoryTreeOpenTest, RefusesWhatIsNoFolder) {
  const struct {
    const char* root;
    const char* message;
  } rows[] = {
      {"/nowhere-at-all", "/nowhere-at-all: No such file or directory; expected a folder with sys/ below it"},
      {"/dev/null", "/dev/null: Not a directory; expected a folder with sys/ below it"},
      {"", "No such file or directory; expected a folder with sys/ below it"},
  };
  for (const auto& row : rows) {
    const auto got = DirectoryTree::Open(row.root);
    ASSERT_FALSE(got.ok()) << row.root;
    EXPECT_EQ(got.error().ToString(), row.message);
  }
}

TEST(DirectoryTreeOpenTest, TheLiveRoot) {
  const auto got = DirectoryTree::Open("/");
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got.value()->Exists("proc/self/status"));
  EXPECT_EQ(*got.value()->Resolve("proc"), "proc");
  EXPECT_EQ(*got.value()->Resolve("."), "");
}

TEST_F(DirectoryTreeTest, TrustedFilesAreRegular) {
  Write("root/etc/policy", "mode = 1\n");
  EXPECT_EQ(*tree_->ReadTrusted("etc/policy", 100), "mode = 1\n");
  EXPECT_EQ(tree_->ReadTrusted("etc/policy", 3).error().what, "longer than 3 bytes");
  EXPECT_EQ(tree_->ReadTrusted("etc/gone", 100).error().code, base::Code::kNotFound);
  EXPECT_EQ(tree_->ReadTrusted("etc", 100).error().what, "not a regular file");
  ASSERT_EQ(mkfifo((home_ / "root/fifo").c_str(), 0644), 0);
  EXPECT_EQ(tree_->ReadTrusted("fifo", 100).error().what, "not a regular file") << "and not an empty one";
  Write("root/long", std::string(10000, 'x'));
  EXPECT_EQ(tree_->ReadTrusted("long", 20000)->size(), 10000U);
}

TEST_F(DirectoryTreeTest, ATrustedFileThatALinkOnlyPromises) {
  Write("root/etc/policy", "x");
  Link("root/etc/good", "policy");
  Link("root/etc/bad", "/gone/policy");
  Link("root/conf", "/shared/conf");
  EXPECT_EQ(*tree_->ReadTrusted("etc/good", 9), "x");
  const struct {
    const char* path;
    const char* seen;
  } kRows[] = {{"etc/bad", "/etc/bad -> /gone/policy"}, {"conf/policy", "/conf -> /shared/conf"}};
  for (const auto& row : kRows) {
    const auto got = tree_->ReadTrusted(row.path, 9);
    ASSERT_FALSE(got.ok()) << row.path;
    EXPECT_EQ(got.error().code, base::Code::kUnreadable) << row.path;
    EXPECT_EQ(got.error().what, "a link that leads nowhere") << row.path;
    EXPECT_EQ(got.error().seen, row.seen);
  }
  for (const char* absent : {"etc/gone", "gone/policy", "etc/policy/x", "etc/.."})
    EXPECT_NE(tree_->ReadTrusted(absent, 9).error().what, "a link that leads nowhere") << absent;
}

TEST_F(DirectoryTreeTest, WhatKeepsSomeUsersFromReading) {
  Write("root/etc/a/policy", "x");
  Write("root/srv/b/policy", "x");
  Link("root/etc/a/link", "/srv/b/policy");
  const struct {
    const char* changed;
    mode_t mode;
    const char* path;
    const char* closed;
  } kRows[] = {
      {"etc/a", 0755, "etc/a/policy", ""},
      {"etc/a", 0711, "etc/a/policy", ""},
      {"etc/a", 0755, "etc/a/link", ""},
      {"etc/a/policy", 0604, "etc/a/policy", ""},
      {"etc/a", 0755, "etc/a/gone", ""},
      {"etc/a/policy", 0600, "etc/a/policy", "only some users may read it: chmod a+r /etc/a/policy"},
      {"etc/a/policy", 0640, "etc/a/policy", "only some users may read it: chmod a+r /etc/a/policy"},
      {"etc/a", 0750, "etc/a/policy", "only some users may enter the folder /etc/a: chmod a+x /etc/a"},
      {"etc", 0754, "etc/a/policy", "only some users may enter the folder /etc: chmod a+x /etc"},
      {"srv/b", 0700, "etc/a/link", "only some users may enter the folder /srv/b: chmod a+x /srv/b"},
      {"srv/b/policy", 0600, "etc/a/link", "only some users may read it: chmod a+r /etc/a/link"},
  };
  for (const auto& row : kRows) {
    const fs::path changed = home_ / "root" / row.changed;
    const auto before = fs::status(changed).permissions();
    ASSERT_EQ(chmod(changed.c_str(), row.mode), 0);
    EXPECT_EQ(tree_->FindClosed(row.path), row.closed) << row.changed;
    fs::permissions(changed, before);
  }
}

// In a tree laid out by hand nobody's word counts; on the live machine the file's writers do.
TEST_F(DirectoryTreeTest, TrustedFilesOfTheMachineAreWrittenByRootOnly) {
  Write("root/policy", "mode = 1\n");
  const auto live = DirectoryTree::Open("/");
  ASSERT_TRUE(live.ok());
  const fs::path file = home_ / "root/policy";
  const std::string path = file.string().substr(1);
  const auto read = [&](mode_t mode) {
    EXPECT_EQ(chmod(file.c_str(), mode), 0);
    EXPECT_TRUE(tree_->ReadTrusted("policy", 100).ok());
    const auto got = (*live)->ReadTrusted(path, 100);
    return got.ok() ? *got : got.error().what + " " + got.error().hint;
  };
  EXPECT_EQ(read(0644), "mode = 1\n");
  EXPECT_EQ(read(0600), "mode = 1\n");
  for (const mode_t bad : {0664U, 0646U, 0666U, 0777U}) {
    EXPECT_EQ(read(bad), "others than its owner may write it chmod go-w it.") << bad;
  }
  const fs::path folder = home_ / "root";
  for (const mode_t bad : {0777U, 0775U, 0757U}) {
    ASSERT_EQ(chmod(folder.c_str(), bad), 0);
    EXPECT_EQ(read(0644), "others may put another file in its place chmod go-w that folder.") << bad;
  }
  ASSERT_EQ(chmod(folder.c_str(), 01777), 0);
  EXPECT_EQ(read(0644), "mode = 1\n") << "as in /tmp";
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
  EXPECT_EQ(read(0644), "in a folder that another user than root owns chown root it.");
  ASSERT_EQ(chown(folder.c_str(), 0, 0), 0);
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0);
  const auto got = (*live)->ReadTrusted(path, 100);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().what + ": " + got.error().seen, "owned by another user than root: uid 65534");
}

}  // namespace
}  // namespace nccl_tune::hw
