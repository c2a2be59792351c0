// SPDX-License-Identifier: Apache-2.0
#include "site/read_policy.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"
#include "core/policy/site_policy.h"
#include "hw/capture_tree.h"
#include "hw/tree.h"

namespace nccl_tune::site {
namespace {

// The notes of a tree in which the policy is `entry`.
std::string Read(hw::CaptureEntry entry, policy::SiteFile* out) {
  hw::Capture capture;
  capture.entries.emplace(std::string(kPolicyPath), std::move(entry));
  std::vector<facts::Note> notes;
  *out = ReadPolicy(hw::CaptureTree(std::move(capture)), &notes);
  std::string all;
  for (const auto& note : notes) all += (all.empty() ? "" : "\n") + note.where + ": " + note.what;
  return all;
}

TEST(ReadPolicyTest, AbsentIsSilent) {
  std::vector<facts::Note> notes;
  const auto file = ReadPolicy(hw::CaptureTree(hw::Capture()), &notes);
  EXPECT_TRUE(notes.empty());
  EXPECT_FALSE(file.keys.mode);
}

TEST(ReadPolicyTest, Good) {
  policy::SiteFile file;
  EXPECT_EQ(Read(hw::CaptureFile{"mode = \"off\"\n"}, &file), "");
  EXPECT_TRUE(file.keys.IsOff());
  EXPECT_EQ(Read(hw::CaptureFile{""}, &file), "");
  EXPECT_FALSE(file.keys.mode);
}

TEST(ReadPolicyTest, OddThingsAreNotes) {
  policy::SiteFile file;
  EXPECT_EQ(
      Read(hw::CaptureFile{"set.NCCL_IB_HAC = \"a\"\n"}, &file),
      "etc/nccl-tune/nccl-tune.toml:1: set.NCCL_IB_HAC: not a variable that we know, so its value is not checked; "
      "Did you mean NCCL_IB_HCA?");
  EXPECT_EQ(file.keys.set.size(), 1U);
}

TEST(ReadPolicyTest, BrokenGivesDefaultsAndOneNote) {
  const std::string kIgnored = "site policy ignored, detection alone decides: ";
  const std::string kFile = "etc/nccl-tune/nccl-tune.toml";
  const struct {
    hw::CaptureEntry entry;
    std::string note;  // its beginning
  } kRows[] = {
      {hw::CaptureFile{"mode = \"off\"\ngid_index = 3\n"},
       kFile + ":2: " + kIgnored + "gid_index: wrong type: got \"3\", expected pin, auto, in quotes"},
      {hw::CaptureFile{"mode = 1\nx = 2\ny = 3\n"},
       kFile + ":1: " + kIgnored +
           "mode: wrong type: got \"1\", expected off, auto, explain, dry-run, in quotes. 2 more faults: see nccl-tune "
           "check-policy"},
      {hw::CaptureFile{"mode = off"}, kFile + ":1: " + kIgnored + "not TOML: "},
      {hw::CaptureFile{std::string("\x7f"
                                   "ELF\0",
                                   5)},
       kFile + ":1: " + kIgnored + "not a text file"},
      {hw::CaptureFile{std::string((1 << 20) + 1, '#')}, kFile},
      {hw::CaptureFailure{"EACCES"},
       kFile + ": " + kIgnored + "EACCES. The user of each job reads it: chmod a+r it, and a+x the folder."},
      {hw::CaptureFailure{"EIO"}, kFile},
      {hw::CaptureFolder{}, kFile},
      {hw::CaptureDevice{true}, kFile},
  };
  for (const auto& row : kRows) {
    policy::SiteFile file;
    const std::string notes = Read(row.entry, &file).substr(1);  // after the "/" of the path
    EXPECT_EQ(notes.substr(0, row.note.size()), row.note);
    EXPECT_NE(notes.find(kIgnored), std::string::npos) << notes;
    EXPECT_EQ(notes.find('\n'), std::string::npos) << notes;
    EXPECT_FALSE(file.keys.mode);
  }
}

}  // namespace
}  // namespace nccl_tune::site
