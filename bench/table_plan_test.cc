// SPDX-License-Identifier: Apache-2.0
#include "bench/table_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Options OptionsOf(const std::vector<std::string>& arguments, const base::Environment& environment = {}) {
  const auto options = ParseOptions("nccl-bench", arguments, environment);
  EXPECT_TRUE(options.ok()) << options.error().ToString();
  return options.value_or(Options{});
}

const Identity kSome{.types = {DataType::kFloat, DataType::kInt8}, .ops = {ReduceOp::kSum, ReduceOp::kMax}};

std::string TextOf(const base::Status& status) { return status.ok() ? "" : status.error().ToString(); }

TEST(TablePlanTest, PartsOfTheTable) {
  const Options all = OptionsOf({"reduce", "-d", "all", "-o", "all", "-r", "-1"});
  EXPECT_THAT(TypesOf(all, kSome), ElementsAre(DataType::kInt8, DataType::kFloat));
  EXPECT_THAT(OpsOf(all, kSome), ElementsAre(ReduceOp::kSum, ReduceOp::kMax));
  EXPECT_THAT(RootsOf(all, 3), ElementsAre(0, 1, 2));
  EXPECT_TRUE(CheckAbilities(all, kSome).ok());
  const Options gather = OptionsOf({"all_gather", "-d", "half", "-o", "min", "-r", "2"});
  EXPECT_THAT(TypesOf(gather, kSome), ElementsAre(DataType::kHalf));
  EXPECT_THAT(OpsOf(gather, kSome), ElementsAre(ReduceOp::kSum));
  EXPECT_THAT(RootsOf(gather, 3), ElementsAre(0));
  EXPECT_THAT(RootsOf(OptionsOf({"broadcast", "-r", "2"}), 3), ElementsAre(2));
}

TEST(TablePlanTest, WhatTheLibraryCannotDo) {
  EXPECT_EQ(TextOf(CheckAbilities(OptionsOf({"all_reduce", "-d", "half"}), kSome)),
            "-d: not with these devices and this library: got \"half\". f8e4m3 and f8e5m2 need NCCL 2.24 and GPUs of "
            "compute capability 9.0.");
  EXPECT_EQ(TextOf(CheckAbilities(OptionsOf({"all_reduce", "-o", "avg"}), kSome)),
            "-o: not with this library: got \"avg\". avg needs NCCL 2.10, mulsum 2.11.");
  EXPECT_EQ(TextOf(CheckAbilities(OptionsOf({"all_gather", "-o", "avg"}), kSome)), "");
}

TEST(TablePlanTest, ATypeAndAnOperationThatDoNotGoTogether) {
  Identity some = kSome;
  some.lacking = {{DataType::kFloat, ReduceOp::kMax}};
  EXPECT_TRUE(Lacks(some, DataType::kFloat, ReduceOp::kMax));
  EXPECT_FALSE(Lacks(some, DataType::kFloat, ReduceOp::kSum));
  EXPECT_EQ(TextOf(CheckAbilities(OptionsOf({"all_reduce", "-o", "max"}), some)),
            "-o: this library has no max of float: got \"max\"");
  EXPECT_EQ(TextOf(CheckAbilities(OptionsOf({"all_reduce", "-o", "max", "-d", "int8"}), some)), "");
  EXPECT_EQ(TextOf(CheckAbilities(OptionsOf({"all_reduce", "-o", "all"}), some)), "");
  EXPECT_EQ(TextOf(CheckAbilities(OptionsOf({"sendrecv", "-o", "max"}), some)), "");
}

TEST(TablePlanTest, RanksThatAreNotThere) {
  struct Case {
    std::vector<std::string> arguments;
    base::Environment environment;
    std::uint64_t ranks;
    const char* text;
  };
  for (const Case& one : {
           Case{{"broadcast", "-r", "3"}, {}, 4, ""},
           Case{{"broadcast", "-r", "4"},
                {},
                4,
                "-r: there is no such rank: got \"4\", expected a rank from 0 to 3, or -1"},
           Case{{"all_reduce", "-r", "4"}, {}, 4, ""},
           Case{{"all_reduce"},
                {{"NCCL_BENCH_TEST_CORRUPT", "4:0"}},
                4,
                "NCCL_BENCH_TEST_CORRUPT: there is no such rank"},
       }) {
    EXPECT_THAT(TextOf(CheckRanks(OptionsOf(one.arguments, one.environment), one.ranks)), HasSubstr(one.text));
  }
}

TEST(TablePlanTest, AMatrixGivesTheSizes) {
  Options options = OptionsOf({"alltoallv", "-b", "3K", "-e", "3K"});
  EXPECT_TRUE(CheckMatrix(options, 2).ok());
  const auto traffic = Traffic::FromMatrix("1024 2048\n512 512\n", "matrix", 1);
  ASSERT_TRUE(traffic.ok()) << traffic.error().ToString();
  options.traffic = *traffic;
  EXPECT_EQ(TextOf(CheckMatrix(options, 2)), "");
  options.matrix_file = "matrix";
  EXPECT_EQ(TextOf(CheckRanks(options, 3)),
            "matrix: the matrix has fewer rows than there are ranks: got \"2\", expected at least 3");
  options.sweep.max_bytes = 4096;
  EXPECT_THAT(TextOf(CheckMatrix(options, 2)),
              HasSubstr("-e: the sizes come from the matrix: -b and -e must be equal"));
  options.sweep.min_bytes = options.sweep.max_bytes = 3071;
  EXPECT_EQ(TextOf(CheckMatrix(options, 2)),
            "-e: is less than a rank of the matrix sends or receives: got \"3071\", expected "
            "-b and -e of 3072 or more, both the same");
}

}  // namespace
}  // namespace nccl_tune::bench
