// SPDX-License-Identifier: Apache-2.0
#include "bench/debug_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace nccl_tune::bench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(DebugFileTest, NamesAreNcclsOwn) {
  for (const auto& [pattern, name] : std::vector<std::pair<std::string, std::string>>{
           {"log", "log"},
           {"log.%h.%p", "log.node1.42"},
           {"%%h-%p%p", "%h-4242"},
           {"%x%", "%x%"},
           {"", ""},
       }) {
    EXPECT_EQ(DebugFileName(pattern, "node1.cluster", 42), name);
  }
  EXPECT_EQ(DebugFileName("%h", "a/b%p", 1), "a-b-p");
}

TEST(DebugFileTest, WhatCanBeWrittenIsLeftAsItWas) {
  std::string folder = testing::TempDir() + "/debug_file.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_TRUE(CheckDebugFile(folder + "/new", "node1").ok());
  EXPECT_TRUE(fs::is_empty(folder));
  std::ofstream(folder + "/old") << "text";
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(CheckDebugFile(folder + "/old", "node1").ok());
  EXPECT_TRUE(CheckDebugFile(folder + "/pipe", "node1").ok()) << "and nobody waits for its reader";
  EXPECT_TRUE(CheckDebugFile("/dev/null", "node1").ok());
  EXPECT_EQ(fs::file_size(folder + "/old"), 4U);
}

TEST(DebugFileTest, NamesThatCannotBe) {
  const std::string start = ": NCCL's log (--nccl-debug) cannot be made on node1: ";
  for (const auto& [path, message] : std::vector<std::pair<std::string, std::string>>{
           {"/proc/nonexistent/log", "No such file or directory. Make its folder first"},
           {"/dev/null/log", "Not a directory. Make its folder first"},
           {"/", "Is a directory. Name a file elsewhere"},
           {testing::TempDir(), "Is a directory"},
           {"/sys/kernel/log", "Name a file in a folder that you may write to"},
           {testing::TempDir() + "/" + std::string(256, 'x'), "File name too long. Name a shorter one"},
           {"", "No such file or directory"},
       }) {
    const auto checked = CheckDebugFile(path, "node1");
    ASSERT_FALSE(checked.ok()) << path;
    EXPECT_THAT(checked.error().ToString(), HasSubstr(message));
    EXPECT_THAT(checked.error().ToString(), HasSubstr(start.substr(2)));
  }
}

}  // namespace
}  // namespace nccl_tune::bench
