// SPDX-License-Identifier: Apache-2.0
#include "bench/search_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/environment.h"

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Arguments = std::vector<std::string>;

TEST(SearchOptionsTest, EachProcessKeepsItsOwnTime) {
  for (const char* mode : {"pairs", "bisect"}) {
    const auto options =
        ParseOptions("nccl-bench", {mode, "-b", "1M", "-e", "4M", "-f", "2", "-a", "3", "-n", "5"}, {});
    ASSERT_TRUE(options.ok());
    EXPECT_EQ(options->average, Average::kFirst);
    EXPECT_EQ(options->iterations, 5);
    EXPECT_THAT(options->warnings, IsEmpty());
  }
  const auto table = ParseOptions("nccl-bench", {"all_reduce", "-a", "3", "--adaptive"}, {});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->average, Average::kGreatest);
  EXPECT_TRUE(table->adaptive);
}

TEST(SearchOptionsTest, ChoosesACollectiveWhereNoneIsNamed) {
  const auto pairs = ParseOptions("nccl-bench", {"pairs"}, {});
  ASSERT_TRUE(pairs.ok());
  EXPECT_TRUE(pairs->names_no_collective);
  EXPECT_EQ(pairs->collective->name, "sendrecv");
  const auto named = ParseOptions("nccl-bench", {"pairs", "sendrecv"}, {});
  ASSERT_TRUE(named.ok());
  EXPECT_FALSE(named->names_no_collective);
}

TEST(SearchOptionsTest, WhatASearchLeavesAsideIsSaid) {
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"--adaptive"}, "--adaptive"},
      {{"-N", "0"}, "-N"},
      {{"-N", "3"}, "-N"},
      {{"-G", "2"}, "-G"},
      {{"-I", "1"}, "-I"},
      {{"-S", "1"}, "-S"},
      {{"-C", "1"}, "-C"},
      {{"-M", "1"}, "-M"},
      {{"--min-busbw", "3"}, "--min-busbw"},
  };
  for (const auto& [flags, name] : cases) {
    Arguments arguments = {"bisect"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto options = ParseOptions("nccl-bench", arguments, {});
    ASSERT_TRUE(options.ok()) << name;
    EXPECT_THAT(options->warnings, ElementsAre(name + ": has no meaning in a search, ignoring it"));
    EXPECT_FALSE(options->adaptive);
    EXPECT_EQ(options->cycles, 1);
    EXPECT_EQ(options->graph_launches, 0);
    EXPECT_FALSE(options->times_iterations);
    EXPECT_FALSE(options->least_busbw.has_value());
  }
  const auto options = ParseOptions("nccl-bench", {"pairs"}, {{"NCCL_TESTS_MIN_BW", "5"}});
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(options->warnings, ElementsAre(HasSubstr("NCCL_TESTS_MIN_BW: has no meaning")));
}

TEST(SearchOptionsTest, RefusesWhatHasNoMeaningWithTheReason) {
  struct Case {
    Arguments arguments;
    base::Environment environment;
    std::string error;
  };
  const std::vector<Case> cases = {
      {{"pairs", "-t", "2"}, {}, "-t: a search has one thread per process"},
      {{"bisect", "-t", "2"}, {}, "-t: a search has one thread per process"},
      {{"pairs", "-d", "all"}, {}, "-d: a search compares one number"},
      {{"pairs", "-o", "all"}, {}, "-o: a search compares one number"},
      {{"bisect", "-o", "all"}, {}, "-o: a search compares one number"},
      {{"pairs", "broadcast", "-r", "1"}, {}, "-r: each group of a search has its own ranks"},
      {{"pairs", "broadcast", "-r", "all"}, {}, "-r: each group of a search has its own ranks"},
      {{"bisect", "hypercube"}, {}, "hypercube: groups are not always of a power of 2"},
      {{"pairs", "alltoallv"}, {{"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", "m"}}, "a matrix is for all ranks"},
      {{"pairs", "--per-rail"}, {}, "--per-rail: a search measures all rails of a node together"},
  };
  for (const Case& one : cases) {
    const auto options = ParseOptions("nccl-bench", one.arguments, one.environment);
    ASSERT_FALSE(options.ok()) << one.error;
    EXPECT_EQ(options.error().code, base::Code::kInvalidInput);
    EXPECT_THAT(options.error().ToString(), HasSubstr(one.error));
  }
}

}  // namespace
}  // namespace nccl_tune::bench
