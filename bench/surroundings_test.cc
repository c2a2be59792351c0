// SPDX-License-Identifier: Apache-2.0
#include "bench/surroundings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;

std::string Temporary(const std::string& name, const std::string& text) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
  std::ofstream(path) << text;
  return path;
}

std::string Settings(const World& world, const std::string& file, const base::Environment& environment = {}) {
  Options options;
  options.debug_file = file;
  std::string text;
  for (const Setting& one : DebugSettings(world, options, environment)) {
    text += one.name + "=" + one.value + (one.why.empty() ? ";" : " (" + one.why + ");");
  }
  return text;
}

TEST(SurroundingsTest, NcclsLogGoesToAFilePerProcess) {
  const std::string why = " (NCCL's log goes there);";
  EXPECT_EQ(Settings({.size = 8}, ""), "");
  EXPECT_EQ(Settings({.size = 1}, "log"), "NCCL_DEBUG=INFO;NCCL_DEBUG_FILE=log" + why);
  EXPECT_EQ(Settings({.size = 8}, "log"), "NCCL_DEBUG=INFO;NCCL_DEBUG_FILE=log.%h.%p" + why);
  EXPECT_EQ(Settings({.size = 8}, "log.%p"), "NCCL_DEBUG=INFO;NCCL_DEBUG_FILE=log.%p" + why);
  EXPECT_EQ(Settings({.size = 8}, "log", {{"NCCL_DEBUG", "WARN"}}), "NCCL_DEBUG_FILE=log.%h.%p" + why);
}

TEST(SurroundingsTest, TheMatrixOfAFile) {
  Options options;
  EXPECT_FALSE(ReadTraffic(options).value_or(Traffic()).is_matrix());
  options.matrix_file = Temporary("matrix", "1 2\n3 4\n");
  const auto traffic = ReadTraffic(options);
  ASSERT_TRUE(traffic.ok()) << traffic.error().ToString();
  EXPECT_EQ(traffic->side(), 2);
  for (const auto& [file, message] :
       {std::pair<std::string, const char*>{"/proc/nonexistent/matrix", "No such file or directory"},
        {"/", "is no file"},
        {"/dev/zero", "is no file"},
        {Temporary("bad", "1 2\n3 x\n"), "bad"},
        {Temporary("empty", ""), "empty"}}) {
    options.matrix_file = file;
    const auto bad = ReadTraffic(options);
    ASSERT_FALSE(bad.ok()) << file;
    EXPECT_THAT(bad.error().ToString(), HasSubstr(message));
    EXPECT_THAT(bad.error().ToString(), HasSubstr(file)) << "the value seen";
    // What is wrong within a file says its row and column; else where to put it.
    if (bad.error().code == base::Code::kUnreadable) {
      EXPECT_THAT(bad.error().ToString(), HasSubstr("expected a file with a square of numbers, the same on every node. "
                                                    "Give its full path"));
    }
  }
}

TEST(SurroundingsTest, ThisMachine) {
  EXPECT_EQ(ReadFile("/proc/nonexistent/file"), "");
  EXPECT_EQ(ReadFile(Temporary("file", "two\nlines\n")), "two\nlines\n");
  EXPECT_GE(UsableCores(), 1);
  EXPECT_EQ(OwnFolder().front(), '/');
  const MpiFacts facts = ReadMpiFacts({.size = 6, .local_size = 2}, {});
  EXPECT_EQ(facts.ranks, 6);
  EXPECT_EQ(facts.local_ranks, 2);
  EXPECT_GE(facts.online_cores, facts.usable_cores);
}

}  // namespace
}  // namespace nccl_tune::bench
