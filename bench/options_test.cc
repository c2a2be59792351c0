// SPDX-License-Identifier: Apache-2.0
#include "bench/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bench/flag_table.h"

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

TEST(OptionsTest, DefaultsAreThoseOfNcclTests) {
  const auto options = ParseOptions("nccl-bench", {"all_reduce"}, {});
  ASSERT_TRUE(options.ok()) << options.error().ToString();
  EXPECT_EQ(options->collective->name, "all_reduce");
  EXPECT_EQ(options->sweep.min_bytes, 32U << 20U);
  EXPECT_EQ(options->sweep.max_bytes, 32U << 20U);
  EXPECT_EQ(options->sweep.step_bytes, 1U << 20U);
  EXPECT_EQ(options->sweep.factor, 1U);
  EXPECT_EQ(options->iterations, 20);
  EXPECT_EQ(options->warmup, 1);
  EXPECT_EQ(options->checks, 1);
  EXPECT_EQ(options->gpus, 1);
  EXPECT_THAT(options->types, ElementsAre(DataType::kFloat));
  EXPECT_THAT(options->ops, ElementsAre(ReduceOp::kSum));
  EXPECT_FALSE(options->backend.has_value());
}

TEST(OptionsTest, TheDefaultsInTheTableAreThoseInTheStruct) {
  Arguments arguments = {"all_reduce"};
  for (const Flag& flag : Flags()) {
    if (!flag.standard.empty()) arguments.push_back("--" + std::string(flag.name) + "=" + std::string(flag.standard));
  }
  const auto written = ParseOptions("nccl-bench", arguments, {});
  ASSERT_TRUE(written.ok()) << written.error().ToString();
  const Options plain;
  EXPECT_EQ(written->sweep.min_bytes, plain.sweep.min_bytes);
  EXPECT_EQ(written->sweep.max_bytes, plain.sweep.max_bytes);
  EXPECT_EQ(written->sweep.step_bytes, plain.sweep.step_bytes);
  EXPECT_EQ(written->sweep.factor, plain.sweep.factor);
  EXPECT_EQ(written->iterations, plain.iterations);
  EXPECT_EQ(written->warmup, plain.warmup);
  EXPECT_EQ(written->checks, plain.checks);
  EXPECT_EQ(written->gpus, plain.gpus);
  EXPECT_EQ(written->types, plain.types);
  EXPECT_EQ(written->ops, plain.ops);
}

TEST(OptionsTest, EachFlagStandsOnceInTheTable) {
  std::set<std::string> seen;
  for (const Flag& flag : Flags()) {
    EXPECT_TRUE(seen.insert(std::string(flag.name)).second) << flag.name;
    if (flag.letter == 0) continue;
    EXPECT_TRUE(seen.insert(std::string(1, flag.letter)).second) << flag.letter;
  }
}

TEST(OptionsTest, ReadsShortAndLongForms) {
  const auto options = ParseOptions("all_reduce_perf",
                                    {"-b8", "-e", "64M", "--stepfactor", "2", "--iters=5", "-w0", "-c", "0", "-d",
                                     "bfloat16", "-o", "all", "--backend", "mpi", "-t", "1"},
                                    {{"NCCL_TESTS_MIN_BW", "1.5"}, {"NCCL_BENCH_TEST_CORRUPT", "2:17"}});
  ASSERT_TRUE(options.ok()) << options.error().ToString();
  EXPECT_EQ(options->sweep.min_bytes, 8U);
  EXPECT_EQ(options->sweep.max_bytes, 64U << 20U);
  EXPECT_EQ(options->sweep.factor, 2U);
  EXPECT_EQ(options->iterations, 5);
  EXPECT_EQ(options->warmup, 0);
  EXPECT_EQ(options->checks, 0);
  EXPECT_THAT(options->types, ElementsAre(DataType::kBfloat16));
  EXPECT_EQ(options->ops.size(), kOps.size());
  EXPECT_EQ(options->backend, BackendKind::kMpi);
  EXPECT_EQ(options->least_bandwidth, 1.5);
  EXPECT_EQ(options->corruption->rank, 2U);
  EXPECT_EQ(options->corruption->offset, 17U);
  EXPECT_EQ(ParseOptions("nccl-bench", {"--help"}, {})->mode, Mode::kHelp);
  EXPECT_EQ(ParseOptions("nccl-bench", {"all_reduce", "-h"}, {})->mode, Mode::kHelp);
  EXPECT_EQ(ParseOptions("x", {"--version"}, {})->mode, Mode::kVersion);
}

TEST(OptionsTest, RefusesTheRest) {
  struct Case {
    Arguments arguments;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{
           {{}, "no collective given; there is all_reduce"},
           {{"-b", "8"}, "no collective given"},
           {{"allreduce"}, "allreduce: no collective of this name; there is all_reduce"},
           {{"all_gather"}, "all_gather: not yet available; there is all_reduce"},
           {{"all_reduce", "8"}, "8: unknown option; valid are -b, --minbytes"},
           {{"all_reduce", ""}, "unknown option"},
           {{"all_reduce", "-"}, "-: unknown option"},
           {{"all_reduce", "--"}, "--: unknown option"},
           {{"all_reduce", "-Z", "1"}, "-Z: unknown option"},
           {{"all_reduce", "--minbyte", "8"}, "--minbyte: unknown option"},
           {{"all_reduce", "-b"}, "-b: needs a value: SIZE"},
           {{"all_reduce", "--help=1"}, "--help: takes no value"},
           {{"all_reduce", "-b", "8X"}, "-b: not a size: got \"8X\""},
           {{"all_reduce", "--maxbytes=-1"}, "--maxbytes: not a size"},
           {{"all_reduce", "-b", "64M"}, "-e: is less than the first size (-b)"},
           {{"all_reduce", "-b", "0", "-f", "2"}, "-b: 0 times a factor"},
           {{"all_reduce", "-b", "1", "-i", "0"}, "-i: a step of 0"},
           {{"all_reduce", "-n", "0"}, "-n: bad value: got \"0\", expected a whole number from 1 on"},
           {{"all_reduce", "-n", "ten"}, "-n: bad value"},
           {{"all_reduce", "-n", "99999999999"}, "-n: bad value"},
           {{"all_reduce", "-w", "-1"}, "-w: bad value"},
           {{"all_reduce", "-c", "1.5"}, "-c: bad value"},
           {{"all_reduce", "-g", "0"}, "-g: bad value"},
           {{"all_reduce", "-f", "x"}, "-f: bad value"},
           {{"all_reduce", "-d", "real"}, "-d: bad value: got \"real\", expected int8"},
           {{"all_reduce", "-d", ""}, "-d: bad value"},
           {{"all_reduce", "-d", "f8e4m3"}, "-d: not yet available"},
           {{"all_reduce", "-o", "mulsum"}, "-o: not yet available"},
           {{"all_reduce", "-o", "plus"}, "-o: bad value: got \"plus\", expected sum, prod, max, min, avg, all"},
           {{"all_reduce", "-t", "2"}, "-t: not yet available: got \"2\""},
           {{"all_reduce", "-J", "x.json"}, "-J: not yet available"},
           {{"all_reduce", "-G", "5"}, "-G: not yet available"},
           {{"all_reduce", "--backend", "gpu"}, "--backend: bad value: got \"gpu\", expected nccl or mpi"},
       }) {
    const auto options = ParseOptions("nccl-bench", one.arguments, {});
    ASSERT_FALSE(options.ok()) << one.message;
    EXPECT_THAT(options.error().ToString(), HasSubstr(one.message));
  }
  EXPECT_THAT(ParseOptions("alltoall_perf", {}, {}).error().ToString(), HasSubstr("alltoall: not yet available"));
}

TEST(OptionsTest, RefusesBadVariables) {
  for (const char* text : {"", ":", "1", "1:", ":1", "a:1", "1:b", "-1:0", "1:2:3"}) {
    const auto options = ParseOptions("nccl-bench", {"all_reduce"}, {{"NCCL_BENCH_TEST_CORRUPT", text}});
    ASSERT_FALSE(options.ok()) << text;
    EXPECT_THAT(options.error().ToString(), HasSubstr("expected RANK:OFFSET"));
  }
  for (const char* text : {"fast", "-1", "nan", "1 "}) {
    const auto options = ParseOptions("nccl-bench", {"all_reduce"}, {{"NCCL_TESTS_MIN_BW", text}});
    ASSERT_FALSE(options.ok()) << text;
    EXPECT_THAT(options.error().ToString(), HasSubstr("NCCL_TESTS_MIN_BW: bad value"));
  }
}

TEST(OptionsTest, HelpNamesWhatIsAndWhatIsNot) {
  EXPECT_THAT(HelpText(), HasSubstr("-b, --minbytes SIZE"));
  EXPECT_THAT(HelpText(), HasSubstr("Not yet available: -t, --nthreads"));
}

}  // namespace
}  // namespace nccl_tune::bench
