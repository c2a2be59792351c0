// SPDX-License-Identifier: Apache-2.0
#include "hw/find_nccl.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/directory_tree.h"
#include "hw/test_loader_cache.h"
#include "hw/test_machine.h"

namespace nccl_tune::hw {
namespace {

using base::Environment;
using Notes = std::vector<facts::Note>;
using Files = std::vector<std::pair<std::string, CaptureEntry>>;

CaptureTree MakeTree(const Files& files) {
  Capture capture;
  for (const auto& [path, entry] : files) capture.entries[path] = entry;
  return CaptureTree(std::move(capture));
}

std::string Show(const std::optional<facts::FoundLibrary>& library) {
  if (!library) return "none";
  constexpr const char* kBy[] = {"preload", "named", "path", "cache", "usual"};
  return library->path + " by " + kBy[static_cast<int>(library->found_by)] + " " + library->version.value_or("?") +
         (library->version_from_name ? " name" : "");
}

const CaptureFile kLibrary{
    "\x7f"
    "ELF text NCCL version 2.27.3+cuda12.9\n"};

TEST(FindNcclTest, WhereAProgramWouldFindIt) {
  const CaptureEntry link = CaptureLink{"libnccl.so.2.28.9"};
  const CaptureEntry cache = CaptureFile{MakeLoaderCache({{0x0303, "libnccl.so.2", "/opt/c/libnccl.so.2"}})};
  const struct {
    Files files;
    Environment environment;
    const char* found;
  } rows[] = {
      {{{"usr/lib64/libnccl.so.2", link}, {"usr/lib64/libnccl.so.2.28.9", kLibrary}},
       {},
       "/usr/lib64/libnccl.so.2 by usual 2.28.9 name"},
      {{{"usr/local/cuda/lib64/libnccl.so.2", kLibrary}}, {}, "/usr/local/cuda/lib64/libnccl.so.2 by usual 2.27.3"},
      {{{"usr/lib64/libnccl.so.2", kLibrary}, {"opt/a/libnccl.so.2", kLibrary}},
       {{"LD_LIBRARY_PATH", "/opt/none:/opt/a"}},
       "/opt/a/libnccl.so.2 by path 2.27.3"},
      {{{"opt/a/libnccl.so.2", kLibrary}, {"opt/b/libnccl.so.2", kLibrary}},
       {{"LD_LIBRARY_PATH", "/opt/b;/opt/a"}},
       "/opt/b/libnccl.so.2 by path 2.27.3"},
      {{{"etc/ld.so.cache", cache}, {"opt/c/libnccl.so.2", kLibrary}, {"usr/lib64/libnccl.so.2", kLibrary}},
       {},
       "/opt/c/libnccl.so.2 by cache 2.27.3"},
      {{{"etc/ld.so.cache", cache}, {"usr/lib64/libnccl.so.2", kLibrary}},
       {},
       "/usr/lib64/libnccl.so.2 by usual 2.27.3"},
      {{{"opt/p/libnccl.so.2", kLibrary}, {"usr/lib64/libnccl.so.2", kLibrary}},
       {{"LD_PRELOAD", "/lib/libx.so /opt/p/libnccl.so.2"}},
       "/opt/p/libnccl.so.2 by preload 2.27.3"},
      {{{"usr/lib64/libnccl.so.2", kLibrary}},
       {{"LD_PRELOAD", "/gone/libnccl.so.2"}},
       "/usr/lib64/libnccl.so.2 by usual 2.27.3"},
      // Not there, or a name that tells no version.
      {{}, {}, "none"},
      {{{"usr/lib64/libnccl.so", kLibrary}}, {}, "none"},
      {{{"usr/lib64/libnccl.so.2", CaptureLink{"gone"}}}, {}, "none"},
      {{{"usr/lib64/libnccl.so.2", CaptureFile{""}}}, {}, "/usr/lib64/libnccl.so.2 by usual ?"},
      {{{"usr/lib64/libnccl.so.2", CaptureFile{"NCCL version 2.28.9"}}}, {}, "/usr/lib64/libnccl.so.2 by usual ?"},
      {{{"usr/lib64/libnccl.so.2", CaptureFile{"NCCL version %s NCCL version 2.x.1 NCCL version 2.30.7 x"}}},
       {},
       "/usr/lib64/libnccl.so.2 by usual 2.30.7"},
      {{{"usr/lib64/libnccl.so.2", CaptureLink{"libnccl.so.2.28"}}, {"usr/lib64/libnccl.so.2.28", kLibrary}},
       {},
       "/usr/lib64/libnccl.so.2 by usual 2.27.3"},
      {{{"usr/lib64/libnccl.so.2", CaptureLink{"libnccl.so.2.28.9.bak"}},
        {"usr/lib64/libnccl.so.2.28.9.bak", kLibrary}},
       {},
       "/usr/lib64/libnccl.so.2 by usual 2.27.3"},
  };
  for (const auto& row : rows) {
    Notes notes;
    EXPECT_EQ(Show(FindNccl(MakeTree(row.files), row.environment, &notes).nccl), row.found);
    EXPECT_TRUE(notes.empty()) << row.found << ": " << notes[0].what;
  }
}

TEST(FindNcclTest, WhatCannotBeReadIsNoted) {
  const struct {
    Files files;
    Environment environment;
    const char* found;
    const char* note;
  } rows[] = {
      {{{"etc/ld.so.cache", CaptureFile{"x"}}, {"usr/lib64/libnccl.so.2", kLibrary}},
       {},
       "/usr/lib64/libnccl.so.2 by usual 2.27.3",
       "etc/ld.so.cache: not a loader cache: no \"glibc-ld.so.cache1.1\" in it"},
      {{{"etc/ld.so.cache", CaptureFailure{"EACCES"}}}, {}, "none", "etc/ld.so.cache: EACCES"},
      {{{"usr/lib64/libnccl.so.2", CaptureFailure{"EIO"}}},
       {},
       "/usr/lib64/libnccl.so.2 by usual ?",
       "/usr/lib64/libnccl.so.2: EIO"},
      {{{"usr/lib64/libnccl.so.2", CaptureFolder{}}},
       {},
       "/usr/lib64/libnccl.so.2 by usual ?",
       "/usr/lib64/libnccl.so.2: not a file"},
      {{},
       {{"LD_LIBRARY_PATH", "lib"}},
       "none",
       "LD_LIBRARY_PATH: \"lib\" depends on where a program runs: passed over"},
      {{}, {{"LD_LIBRARY_PATH", "/a:"}}, "none", "LD_LIBRARY_PATH: \"\" depends on where a program runs: passed over"},
      {{},
       {{"LD_LIBRARY_PATH", "/$LIB"}},
       "none",
       "LD_LIBRARY_PATH: \"/$LIB\" depends on where a program runs: passed over"},
      {{},
       {{"LD_LIBRARY_PATH", "a\nb"}},
       "none",
       "LD_LIBRARY_PATH: \"a\\x0ab\" depends on where a program runs: passed over"},
  };
  for (const auto& row : rows) {
    Notes notes;
    EXPECT_EQ(Show(FindNccl(MakeTree(row.files), row.environment, &notes).nccl), row.found) << row.note;
    ASSERT_EQ(notes.size(), 1u) << row.note;
    EXPECT_EQ(notes[0].where + ": " + notes[0].what, row.note);
  }
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "/d" + std::to_string(i) + ":";
  Notes notes;
  FindNccl(MakeTree({}), {{"LD_LIBRARY_PATH", many}}, &notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].what, "only the first 256 folders were looked at");
}

TEST(FindNcclTest, NetPlugin) {
  const Files files = {{"usr/lib64/libnccl-net.so", kLibrary},
                       {"opt/a/libnccl-net-ofi.so", kLibrary},
                       {"opt/a/libmine.so", kLibrary},
                       {"opt/b/plugin.so", kLibrary}};
  const struct {
    const char* asked;  // nullptr: not set
    const char* found;
    bool disabled;
  } rows[] = {
      {nullptr, "/usr/lib64/libnccl-net.so by usual ?", false},
      {"", "/usr/lib64/libnccl-net.so by usual ?", false},
      {"ofi", "/opt/a/libnccl-net-ofi.so by path ?", false},
      {"libmine.so", "/opt/a/libmine.so by path ?", false},
      {"/opt/b/plugin.so", "/opt/b/plugin.so by named ?", false},
      {"gone,ofi", "/opt/a/libnccl-net-ofi.so by path ?", false},
      {"none", "none", true},
      {"gone", "none", false},
      {"b/plugin.so", "none", false},
      {"../../etc/passwd", "none", false},
      {",", "none", false},
  };
  for (const auto& row : rows) {
    Environment environment = {{"LD_LIBRARY_PATH", "/opt/a"}};
    if (row.asked != nullptr) environment["NCCL_NET_PLUGIN"] = row.asked;
    Notes notes;
    const auto got = FindNccl(MakeTree(files), environment, &notes).net_plugin;
    EXPECT_EQ(Show(got.library), row.found) << (row.asked == nullptr ? "unset" : row.asked);
    EXPECT_EQ(got.is_disabled, row.disabled);
    EXPECT_TRUE(notes.empty());
  }
}

// The text across the border of two pieces, wherever that lies in it.
TEST(FindNcclTest, OnDiskInPieces) {
  const char* base = std::getenv("TEST_TMPDIR");
  ASSERT_NE(base, nullptr);
  std::string root = std::string(base) + "/nccl-XXXXXX";
  ASSERT_NE(mkdtemp(root.data()), nullptr);
  const auto tree = DirectoryTree::Open(root);
  ASSERT_TRUE(tree.ok());
  const std::string text = "NCCL version 2.28.9+cuda13.0";
  constexpr std::size_t kPiece = 256 << 10;
  for (std::size_t before = 0; before <= text.size(); ++before) {
    std::ofstream(root + "/libnccl.so.2") << std::string(kPiece - before, '\0') << text << std::string(10, '\0');
    Notes notes;
    const auto got = FindNccl(**tree, {{"LD_PRELOAD", "/libnccl.so.2"}}, &notes);
    EXPECT_EQ(Show(got.nccl), "/libnccl.so.2 by preload 2.28.9") << before;
    EXPECT_TRUE(notes.empty());
  }
}

TEST(FindNcclByNameTest, WithoutALookIntoTheLibrary) {
  const CaptureEntry link = CaptureLink{"libnccl.so.2.28.9"};
  Notes notes;
  const auto show = [&](const Files& files) { return Show(FindNcclByName(MakeTree(files), {}, &notes)); };
  EXPECT_EQ(show({{"usr/lib64/libnccl.so.2", link}, {"usr/lib64/libnccl.so.2.28.9", kLibrary}}),
            "/usr/lib64/libnccl.so.2 by usual 2.28.9 name");
  EXPECT_EQ(show({{"usr/lib64/libnccl.so.2", kLibrary}}), "/usr/lib64/libnccl.so.2 by usual ?");
  EXPECT_EQ(show({{"usr/lib64/libnccl.so.2", CaptureFailure{"EIO"}}}), "/usr/lib64/libnccl.so.2 by usual ?");
  EXPECT_EQ(show({{"usr/lib64/other", kLibrary}}), "none");
  EXPECT_TRUE(notes.empty());
}

TEST(FindNetPluginTest, WithoutALookAtTheLibrary) {
  const Files files = {{"usr/lib64/libnccl-net.so", kLibrary}, {"usr/lib64/libnccl.so.2", CaptureFailure{"EIO"}}};
  Notes notes;
  const auto found = FindNetPlugin(MakeTree(files), {}, &notes);
  ASSERT_TRUE(found.library);
  EXPECT_EQ(found.library->path, "/usr/lib64/libnccl-net.so");
  EXPECT_TRUE(FindNetPlugin(MakeTree(files), {{"NCCL_NET_PLUGIN", "none"}}, &notes).is_disabled);
  const auto named = FindNetPlugin(MakeTree(files), {{"NCCL_NET_PLUGIN", "gone"}}, &notes);
  EXPECT_EQ(named.asked, "gone");
  EXPECT_FALSE(named.library);
  EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace nccl_tune::hw
