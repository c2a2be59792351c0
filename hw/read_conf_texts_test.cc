// SPDX-License-Identifier: Apache-2.0
#include "hw/read_conf_texts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/directory_tree.h"
#include "hw/test_machine.h"

namespace nccl_tune::hw {
namespace {

using Notes = std::vector<facts::Note>;
const std::vector<std::string> kPaths = {"/home/a/.nccl.conf", "/etc/nccl.conf"};

TEST(ReadConfTextsTest, TakesThoseThatAreThere) {
  Capture capture;
  capture.entries["etc/nccl.conf"] = CaptureFile{"A=1\nB=2\n"};
  Notes notes;
  auto got = ReadConfTexts(CaptureTree(capture), kPaths, &notes);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got["/etc/nccl.conf"], "A=1\nB=2\n");
  EXPECT_TRUE(notes.empty());
  EXPECT_TRUE(ReadConfTexts(CaptureTree(Capture{}), kPaths, &notes).empty());
  EXPECT_TRUE(notes.empty()) << "no file is the normal case";
}

TEST(ReadConfTextsTest, ABadFileCostsItselfOnly) {
  const struct {
    CaptureEntry entry;
    const char* note;
  } rows[] = {
      {CaptureFailure{"EACCES"}, "EACCES"},
      {CaptureFailure{"EIO"}, "EIO"},
      {CaptureFolder{}, "not a file"},
      {CaptureFile{std::string((1 << 20) + 1, 'x')}, "longer than 1048576 bytes"},
  };
  for (const auto& row : rows) {
    Capture capture;
    capture.entries["home/a/.nccl.conf"] = row.entry;
    capture.entries["etc/nccl.conf"] = CaptureFile{"A=1\n"};
    Notes notes;
    const auto got = ReadConfTexts(CaptureTree(capture), kPaths, &notes);
    EXPECT_EQ(got.size(), 1u) << row.note;
    ASSERT_EQ(notes.size(), 1u) << row.note;
    EXPECT_EQ(notes[0].where, "/home/a/.nccl.conf");
    EXPECT_EQ(notes[0].what, row.note);
  }
}

TEST(ReadConfTextsTest, OnDisk) {
  const char* base = std::getenv("TEST_TMPDIR");
  ASSERT_NE(base, nullptr);
  std::string root = std::string(base) + "/conf-XXXXXX";
  ASSERT_NE(mkdtemp(root.data()), nullptr);
  ASSERT_EQ(mkdir((root + "/etc").c_str(), 0755), 0);
  const std::string text(9000, 'x');  // more than one block
  std::ofstream(root + "/etc/nccl.conf") << text;
  ASSERT_EQ(mkfifo((root + "/pipe").c_str(), 0600), 0);
  const auto tree = DirectoryTree::Open(root);
  ASSERT_TRUE(tree.ok());
  Notes notes;
  auto got = ReadConfTexts(**tree, {"/pipe", "//etc/nccl.conf", "/etc"}, &notes);
  EXPECT_EQ(got["//etc/nccl.conf"], text);
  EXPECT_EQ(got["/pipe"], "") << "a pipe that nobody writes to ends at once";
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].where, "/etc");
}

}  // namespace
}  // namespace nccl_tune::hw
