// SPDX-License-Identifier: Apache-2.0
#include "bench/flag_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "bench/options.h"
#include "bench/types.h"

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Arguments = std::vector<std::string>;

Options Parsed(const Arguments& arguments) {
  const auto options = ParseOptions("all_reduce_perf", arguments, {});
  EXPECT_TRUE(options.ok()) << options.error().ToString();
  return options.ok() ? *options : Options{};
}

// What differs between two sets of options, by name; empty when nothing does.
std::set<std::string> Differences(const Options& a, const Options& b) {
  std::set<std::string> names;
  const auto compare = [&names](const char* name, bool same) {
    if (!same) names.insert(name);
  };
  compare("b", a.sweep.min_bytes == b.sweep.min_bytes);
  compare("e", a.sweep.max_bytes == b.sweep.max_bytes);
  compare("i", a.sweep.step_bytes == b.sweep.step_bytes);
  compare("f", a.sweep.factor == b.sweep.factor);
  compare("t", a.threads == b.threads);
  compare("g", a.gpus == b.gpus);
  compare("n", a.iterations == b.iterations);
  compare("m", a.aggregated == b.aggregated);
  compare("w", a.warmup == b.warmup);
  compare("N", a.cycles == b.cycles);
  compare("c", a.checks == b.checks);
  compare("p", a.parallel_init == b.parallel_init);
  compare("d", a.types == b.types && a.all_types == b.all_types);
  compare("o", a.ops == b.ops && a.all_ops == b.all_ops);
  compare("r", a.root == b.root);
  compare("z", a.blocking == b.blocking);
  compare("y", a.null_stream == b.null_stream);
  compare("T", a.timeout_seconds == b.timeout_seconds);
  compare("G", a.graph_launches == b.graph_launches);
  compare("C", a.reports_cpu_time == b.reports_cpu_time);
  compare("S", a.reports_timestamps == b.reports_timestamps);
  compare("a", a.average == b.average);
  compare("R", a.registration == b.registration);
  compare("x", a.cta_policy == b.cta_policy);
  compare("D", a.device_implementation == b.device_implementation);
  compare("V", a.device_ctas == b.device_ctas);
  compare("M", a.reports_memory == b.reports_memory);
  compare("u", a.unaligned == b.unaligned);
  compare("I", a.times_iterations == b.times_iterations);
  compare("K", a.skipped_iterations == b.skipped_iterations);
  compare("J", a.json_file == b.json_file);
  compare("csv", a.csv_file == b.csv_file);
  compare("backend", a.backend == b.backend);
  compare("adaptive", a.adaptive == b.adaptive);
  compare("adaptive-seconds", a.adaptive_seconds == b.adaptive_seconds);
  compare("min-busbw", a.least_busbw == b.least_busbw);
  compare("per-rail", a.per_rail == b.per_rail);
  compare("nvtx", a.profile == b.profile);
  compare("nccl-debug", a.debug_file == b.debug_file);
  compare("warnings", a.warnings == b.warnings);
  return names;
}

TEST(FlagTableTest, DefaultsAreThoseOfNcclTests) {
  const auto options = Parsed({});
  EXPECT_EQ(options.collective->name, "all_reduce");
  EXPECT_EQ(options.sweep.min_bytes, 32U << 20U);
  EXPECT_EQ(options.sweep.max_bytes, 32U << 20U);
  EXPECT_EQ(options.sweep.step_bytes, 1U << 20U);
  EXPECT_EQ(options.iterations, 20);
  EXPECT_EQ(options.warmup, 1);
  EXPECT_THAT(options.types, ElementsAre(DataType::kFloat));
  EXPECT_THAT(options.ops, ElementsAre(ReduceOp::kSum));
  EXPECT_EQ(options.root, 0U);
  EXPECT_EQ(options.average, Average::kMean);
  EXPECT_EQ(options.device_ctas, 16);
  EXPECT_THAT(Differences(options, Options{}), IsEmpty());
}

TEST(FlagTableTest, TheDefaultsInTheTableAreThoseInTheStruct) {
  Arguments arguments = {"--adaptive"};
  for (const Flag& flag : Flags()) {
    if (!flag.standard.empty()) arguments.push_back("--" + std::string(flag.name) + "=" + std::string(flag.standard));
  }
  EXPECT_THAT(Differences(Parsed(arguments), Options{}), ElementsAre("adaptive"));
}

TEST(FlagTableTest, EachFlagStandsOnceInTheTable) {
  std::set<std::string> seen;
  for (const Flag& flag : Flags()) {
    EXPECT_TRUE(seen.insert(std::string(flag.name)).second) << flag.name;
    EXPECT_NE(flag.help, "") << flag.name;
    EXPECT_NE(flag.set, nullptr) << flag.name;
    if (flag.letter == 0) continue;
    EXPECT_TRUE(seen.insert(std::string(1, flag.letter)).second) << flag.letter;
  }
}

// nccl-tests 2.19.6: its short options, long options and defaults, as `--help` and the source give them.
TEST(FlagTableTest, EveryFlagOfNcclTestsIsThere) {
  struct Theirs {
    char letter;
    const char* name;
    const char* standard;
  };
  const std::vector<Theirs> theirs = {{'t', "nthreads", "1"},
                                      {'g', "ngpus", "1"},
                                      {'b', "minbytes", "32M"},
                                      {'e', "maxbytes", "32M"},
                                      {'i', "stepbytes", "1M"},
                                      {'f', "stepfactor", "1"},
                                      {'n', "iters", "20"},
                                      {'m', "agg_iters", "1"},
                                      {'w', "warmup_iters", "1"},
                                      {'N', "run_cycles", "1"},
                                      {'p', "parallel_init", "0"},
                                      {'c', "check", "1"},
                                      {'o', "op", "sum"},
                                      {'d', "datatype", "float"},
                                      {'r', "root", "0"},
                                      {'z', "blocking", "0"},
                                      {'y', "stream_null", "0"},
                                      {'T', "timeout", "0"},
                                      {'G', "cudagraph", "0"},
                                      {'C', "report_cputime", "0"},
                                      {'S', "report_timestamps", "0"},
                                      {'J', "output_file", ""},
                                      {'a', "average", "1"},
                                      {'R', "local_register", "0"},
                                      {'x', "cta_policy", ""},
                                      {'D', "device_implementation", "0"},
                                      {'V', "device_cta_count", "16"},
                                      {'M', "memory", "0"},
                                      {'u', "unalign", "0"},
                                      {'I', "per_iter_timing", "0"},
                                      {'K', "per_iter_skip", "0"},
                                      {'h', "help", ""}};
  std::size_t found = 0;
  for (const Flag& flag : Flags()) {
    if (flag.origin != FlagOrigin::kNcclTests) continue;
    ASSERT_LT(found, theirs.size()) << flag.name;
    EXPECT_EQ(flag.letter, theirs[found].letter) << flag.name;
    EXPECT_EQ(flag.name, theirs[found].name);
    EXPECT_EQ(flag.standard, theirs[found].standard) << flag.name;
    EXPECT_EQ(flag.value.empty(), flag.letter == 'h') << flag.name;
    ++found;
  }
  EXPECT_EQ(found, theirs.size());
}

TEST(FlagTableTest, EachFlagSetsItsField) {
  struct Case {
    Arguments arguments;
    std::vector<std::string> changed;
  };
  for (const Case& one :
       std::vector<Case>{{{"-t", "2"}, {"t"}},
                         {{"-g", "4"}, {"g"}},
                         {{"-b", "8"}, {"b"}},
                         {{"-e", "64M"}, {"e"}},
                         {{"-i", "2M"}, {"i"}},
                         {{"-f", "2"}, {"f"}},
                         {{"-n", "5"}, {"n"}},
                         {{"-m", "4"}, {"m"}},
                         {{"-w", "0"}, {"w"}},
                         {{"-N", "0"}, {"N"}},
                         {{"-p", "1"}, {"p"}},
                         {{"-c", "0"}, {"c"}},
                         {{"-o", "prod"}, {"o"}},
                         {{"-d", "half"}, {"d"}},
                         {{"-r", "3"}, {"r"}},
                         {{"-z", "3"}, {"z"}},
                         {{"-y", "1"}, {"y"}},
                         {{"-T", "60"}, {"T"}},
                         {{"-G", "10"}, {"G"}},
                         {{"-C", "1"}, {"C"}},
                         {{"-S", "1"}, {"S"}},
                         {{"-J", "out.json"}, {"J"}},
                         {{"-a", "3"}, {"a"}},
                         {{"-R", "2"}, {"R"}},
                         {{"-x", "0"}, {"x"}},
                         {{"-D", "4", "-R", "2"}, {"D", "R"}},
                         {{"-V", "128"}, {"V"}},
                         {{"-M", "1"}, {"M"}},
                         {{"-u", "3"}, {"u"}},
                         {{"-I", "1"}, {"I"}},
                         {{"-K", "19", "-I", "1"}, {"I", "K"}},
                         {{"--backend", "mpi"}, {"backend"}},
                         {{"--json", "out"}, {"J"}},
                         {{"--csv", "out"}, {"csv"}},
                         {{"--adaptive"}, {"adaptive"}},
                         {{"--adaptive", "--adaptive-seconds", "2.5"}, {"adaptive", "adaptive-seconds"}},
                         {{"--min-busbw", "2.8"}, {"min-busbw"}},
                         {{"--per-rail"}, {"per-rail"}},
                         {{"--nvtx"}, {"nvtx"}},
                         {{"--nccl-debug", "log"}, {"nccl-debug"}}}) {
    EXPECT_THAT(Differences(Parsed(one.arguments), Options{}), ::testing::ElementsAreArray(one.changed))
        << one.arguments[0];
  }
}

TEST(FlagTableTest, EveryTypeAndOperationIsKnown) {
  for (const char* name : {"int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16",
                           "f8e4m3", "f8e5m2"}) {
    const auto options = Parsed({"-d", name});
    ASSERT_EQ(options.types.size(), 1U);
    EXPECT_EQ(NameOf(options.types[0]), name);
    EXPECT_FALSE(options.all_types);
  }
  for (const char* name : {"sum", "prod", "max", "min", "avg", "mulsum"}) {
    const auto options = Parsed({"-o", name});
    ASSERT_EQ(options.ops.size(), 1U);
    EXPECT_EQ(NameOf(options.ops[0]), name);
    EXPECT_FALSE(options.all_ops);
  }
  const auto all = Parsed({"-d", "all", "-o", "all"});
  EXPECT_TRUE(all.all_types);
  EXPECT_TRUE(all.all_ops);
  EXPECT_EQ(all.types.size(), 12U);
  EXPECT_EQ(all.ops.size(), 6U);
  const auto last = Parsed({"-d", "all", "-o", "all", "-d", "int8", "-o", "max"});
  EXPECT_FALSE(last.all_types || last.all_ops);
  EXPECT_THAT(last.types, ElementsAre(DataType::kInt8));
}

}  // namespace
}  // namespace nccl_tune::bench
