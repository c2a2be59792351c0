// SPDX-License-Identifier: Apache-2.0
#include "bench/option_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/options.h"

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Operation = Split::Operation;

base::Result<Options> Read(const base::Environment& environment, const char* called = "alltoallv_perf") {
  return ParseOptions(called, {}, environment);
}

TEST(OptionVariablesTest, SetsWhatNcclTestsReads) {
  const auto options = Read({{"NCCL_TESTS_DEVICE", "3"},
                             {"NCCL_TESTS_MIN_BW", "1.5"},
                             {"NCCL_TESTS_SPLIT", "MOD 2"},
                             {"NCCL_TESTS_ALLTOALLV_SPREAD", "0.25"},
                             {"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", "traffic.txt"},
                             {"NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "1e3"},
                             {"NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", "1"},
                             {"NCCL_BENCH_TEST_CORRUPT", "2:17"}});
  ASSERT_TRUE(options.ok()) << options.error().ToString();
  EXPECT_EQ(options->first_gpu, 3);
  EXPECT_EQ(options->least_average, 1.5);
  EXPECT_EQ(options->split->operation, Operation::kModulo);
  EXPECT_EQ(options->split->value, 2U);
  EXPECT_EQ(options->traffic.spread(), 0.25);
  EXPECT_EQ(options->matrix_file, "traffic.txt");
  EXPECT_EQ(options->matrix_scale, 1000);
  EXPECT_TRUE(options->summarises_ranks);
  EXPECT_EQ(options->corruption->rank, 2U);
  EXPECT_EQ(options->corruption->offset, 17U);
  EXPECT_THAT(options->warnings, IsEmpty());
}

TEST(OptionVariablesTest, TheMaskGoesOverTheSplit) {
  const auto both = Read({{"NCCL_TESTS_SPLIT", "MOD 0"}, {"NCCL_TESTS_SPLIT_MASK", "10"}});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->split->operation, Operation::kAnd);
  EXPECT_EQ(both->split->value, 16U);
  const auto empty = Read({{"NCCL_TESTS_SPLIT", "DIV 8"}, {"NCCL_TESTS_SPLIT_MASK", ""}});
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->split->operation, Operation::kDivide);
}

TEST(OptionVariablesTest, AnEmptyVariableIsNone) {
  base::Environment environment;
  for (const Variable& variable : Variables()) environment.emplace(variable.name, "");
  const auto options = Read(environment);
  ASSERT_TRUE(options.ok()) << options.error().ToString();
  EXPECT_EQ(options->first_gpu, std::nullopt);
  EXPECT_EQ(options->least_average, std::nullopt);
  EXPECT_FALSE(options->split.has_value());
  EXPECT_EQ(options->traffic.spread(), 1.0);
  EXPECT_EQ(options->matrix_scale, 1.0);
  EXPECT_FALSE(options->corruption.has_value());
}

TEST(OptionVariablesTest, WarnsOfWhatItChanges) {
  struct Case {
    const char* text;
    double spread;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{{"1.5", 1, "NCCL_TESTS_ALLTOALLV_SPREAD=1.5: not from 0 to 1, taking 1"},
                                           {"-2", 0, "NCCL_TESTS_ALLTOALLV_SPREAD=-2: not from 0 to 1, taking 0"}}) {
    const auto options = Read({{"NCCL_TESTS_ALLTOALLV_SPREAD", one.text}});
    ASSERT_TRUE(options.ok());
    EXPECT_EQ(options->traffic.spread(), one.spread);
    EXPECT_THAT(options->warnings, ElementsAre(HasSubstr(one.message)));
  }
  const auto scale = Read({{"NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "2"}});
  ASSERT_TRUE(scale.ok());
  EXPECT_THAT(scale->warnings,
              ElementsAre("NCCL_TESTS_ALLTOALLV_MATRIX_SCALE: there is no NCCL_TESTS_ALLTOALLV_MATRIX_FILE to scale, "
                          "ignoring it"));
  const auto search = ParseOptions("nccl-bench", {"pairs"}, {{"NCCL_TESTS_SPLIT", "nonsense"}});
  ASSERT_TRUE(search.ok());
  EXPECT_FALSE(search->split.has_value());
  EXPECT_THAT(search->warnings, ElementsAre(HasSubstr("NCCL_TESTS_SPLIT: a search for slow nodes")));
}

TEST(OptionVariablesTest, ThoseOfAlltoallvCountForItOnly) {
  const auto options = Read(
      {{"NCCL_TESTS_ALLTOALLV_SPREAD", "wide"}, {"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", "traffic.txt"}}, "alltoall_perf");
  ASSERT_TRUE(options.ok()) << options.error().ToString();
  EXPECT_EQ(options->matrix_file, "");
}

TEST(OptionVariablesTest, RefusesTheRest) {
  struct Case {
    const char* name;
    std::vector<const char*> texts;
    const char* message;  // after the value seen: what was expected, what to do
  };
  for (const Case& one : std::vector<Case>{
           {"NCCL_TESTS_DEVICE",
            {"-1", "first", "1.0", "0,1", "2147483648", "3 4", "0x"},
            "expected the number of a GPU, from 0 on. Give one that `nvidia-smi -L` lists, or unset it"},
           {"NCCL_TESTS_MIN_BW",
            {"fast", "-1", "nan", "1 GB/s", "1,5", "0x10"},
            "expected GB/s, a number from 0 on. Give it without a unit, with a point: NCCL_TESTS_MIN_BW=2.5."},
           {"NCCL_TESTS_SPLIT",
            {"2", "XOR 2", "MOD", "MOD x", "AND -1", "MOD 2 3", "DIV 9223372036854775808"},
            "expected AND, OR, MOD or DIV (or & | % /) and a whole number from 0 to 9223372036854775807. "
            "\"MOD 8\" puts every eighth task into a group, \"DIV 8\" eight that follow each other."},
           {"NCCL_TESTS_SPLIT",
            {"MOD 0", "DIV 0", "/ 0x0", "%0b0"},
            "expected a whole number from 1 on to divide by. \"MOD 8\" puts"},
           {"NCCL_TESTS_SPLIT_MASK",
            {"g", "-1", "0x", "MOD 2", " ", "10000000000000000"},
            "expected 1 to 16 hexadecimal digits. A task's group is its number AND the mask"},
           {"NCCL_TESTS_ALLTOALLV_SPREAD",
            {"wide", "nan", "0.5x", "0,5", "inf"},
            "expected a number from 0 to 1. 0 is equal parts for all ranks, 1"},
           {"NCCL_TESTS_ALLTOALLV_MATRIX_SCALE",
            {"-1", "big", "1e999", "nan", "inf", "0,5", "2x", "0x2", " "},
            "expected a finite number from 0 on. Every number of the matrix is multiplied by it: 0.5 halves them"},
           {"NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY",
            {"yes", "2", "-1", "1.0"},
            "expected 0 or 1. 1 lists what each rank sends and receives"},
           {"NCCL_BENCH_TEST_CORRUPT",
            {" ", ":", "1", "1:", ":1", "a:1", "1:b", "-1:0", "1:2:3"},
            "expected RANK:OFFSET. It spoils a result, for tests: 1:5 element 5 of rank 1; unset it to measure."},
       }) {
    for (const char* text : one.texts) {
      const auto options = Read({{one.name, text}});
      ASSERT_FALSE(options.ok()) << one.name << "=" << text;
      EXPECT_THAT(options.error().ToString(),
                  HasSubstr(std::string(one.name) + ": bad value: got \"" + text + "\", " + one.message));
      EXPECT_EQ(options.error().code, base::Code::kInvalidInput);
    }
  }
}

}  // namespace
}  // namespace nccl_tune::bench
