// SPDX-License-Identifier: Apache-2.0
#include "bench/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

Options Parsed(const Arguments& arguments) {
  const auto options = ParseOptions("all_reduce_perf", arguments, {});
  EXPECT_TRUE(options.ok()) << options.error().ToString();
  return options.ok() ? *options : Options{};
}

TEST(OptionsTest, RootsAreOneOrAll) {
  EXPECT_EQ(Parsed({"-r", "0x10"}).root, 16U);
  EXPECT_EQ(Parsed({"-r", "-1"}).root, std::nullopt);
  EXPECT_EQ(Parsed({"-r-1"}).root, std::nullopt);
  EXPECT_EQ(Parsed({"--root=all"}).root, std::nullopt);
  EXPECT_EQ(Parsed({"-r", "all", "-r", "2"}).root, 2U);
}

TEST(OptionsTest, ReadsWhatGetoptReads) {
  for (const Arguments& arguments : std::vector<Arguments>{{"-b8"},
                                                           {"-b", "8"},
                                                           {"--minbytes", "8"},
                                                           {"--minbytes=8"},
                                                           {"--minb", "8"},
                                                           {"--minb=8"},
                                                           {"--min", "8"},  // not --min-busbw
                                                           {"-b", "64", "-b", "8"},
                                                           {"-b", "8", "--"}}) {
    EXPECT_EQ(Parsed(arguments).sweep.min_bytes, 8U) << arguments[0];
  }
  EXPECT_EQ(Parsed({"--bl", "2"}).blocking, Blocking::kWait);
  EXPECT_EQ(Parsed({"--backe", "mpi"}).backend, BackendKind::kMpi);
  EXPECT_TRUE(Parsed({"--per-"}).per_rail);
  EXPECT_TRUE(Parsed({"--adaptive"}).adaptive);  // though --adaptive-seconds begins with it
  EXPECT_EQ(Parsed({"-n", "0x10", "-w", "010"}).iterations, 16);
  EXPECT_EQ(Parsed({"-w", "010"}).warmup, 8);
  EXPECT_EQ(Parsed({"-b", "1.5k"}).sweep.min_bytes, 1536U);
}

TEST(OptionsTest, ModesAndCollectives) {
  struct Case {
    const char* called;
    Arguments arguments;
    Mode mode;
    const char* collective;
  };
  for (const Case& one :
       std::vector<Case>{{"nccl-bench", {"all_reduce"}, Mode::kMeasure, "all_reduce"},
                         {"nccl-bench", {"all_reduce_perf"}, Mode::kMeasure, "all_reduce"},
                         {"nccl-bench", {"-b", "8", "all_gather", "-f", "2"}, Mode::kMeasure, "all_gather"},
                         {"nccl-bench", {"-b", "8", "--", "alltoallv"}, Mode::kMeasure, "alltoallv"},
                         {"broadcast_perf", {}, Mode::kMeasure, "broadcast"},
                         {"reduce_scatter_perf_mpi", {}, Mode::kMeasure, "reduce_scatter"},
                         {"nccl-bench", {"pairs"}, Mode::kPairs, "sendrecv"},
                         {"nccl-bench", {"pairs", "alltoall"}, Mode::kPairs, "alltoall"},
                         {"nccl-bench", {"bisect"}, Mode::kBisect, "all_reduce"},
                         {"nccl-bench", {"bisect", "-n", "5", "reduce"}, Mode::kBisect, "reduce"}}) {
    const auto options = ParseOptions(one.called, one.arguments, {});
    ASSERT_TRUE(options.ok()) << options.error().ToString();
    EXPECT_EQ(options->mode, one.mode) << one.collective;
    EXPECT_EQ(options->collective->name, one.collective);
  }
  EXPECT_EQ(ParseOptions("nccl-bench", {"--help"}, {})->mode, Mode::kHelp);
  EXPECT_EQ(ParseOptions("nccl-bench", {"all_reduce", "-h", "-Z"}, {})->mode, Mode::kHelp);
  EXPECT_EQ(ParseOptions("x", {"--version"}, {})->mode, Mode::kVersion);
}

TEST(OptionsTest, EveryCollectiveIsKnown) {
  for (const std::string name : {"all_reduce", "all_gather", "broadcast", "reduce_scatter", "reduce", "alltoall",
                                 "alltoallv", "scatter", "gather", "sendrecv", "hypercube"}) {
    for (const auto& options : {ParseOptions("nccl-bench", {name}, {}), ParseOptions(name + "_perf", {}, {})}) {
      ASSERT_TRUE(options.ok()) << options.error().ToString();
      EXPECT_EQ(options->collective->name, name);
    }
  }
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
           {{"all_reduce_perfect"}, "all_reduce_perfect: no collective of this name"},
           {{"_perf"}, "_perf: no collective of this name"},
           {{""}, "no collective of this name"},
           {{"pairs", "nothing"}, "nothing: no collective of this name"},
           {{"pairs", "bisect"}, "bisect: no collective of this name"},
           {{"bisect", "all_reduce", "8"}, "8: belongs to no option"},
           {{"all_reduce", "8"}, "8: belongs to no option"},
           {{"all_reduce", "-b", "8", "16"}, "16: belongs to no option"},
           {{"all_reduce", ""}, "belongs to no option"},
           {{"all_reduce", "-"}, "-: belongs to no option"},
           {{"all_reduce", "--", "-b"}, "-b: belongs to no option"},
           {{"all_reduce", "-Z", "1"}, "-Z: unknown option. nccl-bench --help lists the options."},
           {{"all_reduce", "-\n"}, "-\\x0a: unknown option"},
           {{"all_reduce", "--minbites", "8"}, "--minbites: unknown option"},
           {{"all_reduce", "--MINBYTES", "8"}, "--MINBYTES: unknown option"},
           {{"all_reduce", "--minbytess=8"}, "--minbytess: unknown option"},
           {{"all_reduce", "--m", "8"}, "--m: may be any of --minbytes, --maxbytes, --memory"},
           {{"all_reduce", "--per", "1"}, "--per: may be any of --per_iter_timing, --per_iter_skip"},
           {{"all_reduce", "--ad"}, "--ad: may be any of --adaptive, --adaptive-seconds"},
           {{"all_reduce", "--=8"}, "--: may be any of --nthreads, "},
           {{"all_reduce", "-b"}, "-b: needs a value: SIZE"},
           {{"all_reduce", "--minbytes"}, "--minbytes: needs a value: SIZE"},
           {{"all_reduce", "--help=1"}, "--help: takes no value"},
           {{"all_reduce", "-h1"}, "-h: takes no value"},
           {{"all_reduce", "--adaptive=1"}, "--adaptive: takes no value"},
           {{"all_reduce", "-b", "8X"}, "-b: not a size: got \"8X\""},
           {{"all_reduce", "-b", "-e", "8"}, "-b: not a size: got \"-e\""},
           {{"all_reduce", "-b=8"}, "-b: not a size: got \"=8\""},
           {{"all_reduce", "--maxbytes=-1"}, "--maxbytes: not a size"},
           {{"all_reduce", "--maxb="}, "--maxb: not a size: got \"\""},
           {{"all_reduce", "-i", "8KB"}, "-i: not a size"},
           {{"all_reduce", "-b", "64M"}, "-e: is less than the first size (-b)"},
           {{"all_reduce", "-b", "0", "-f", "2"}, "-b: 0 times a factor"},
           {{"all_reduce", "-b", "1", "-i", "0"}, "-i: a step of 0"},
           {{"pairs", "-b", "64M", "-e", "8"}, "-e: is less than the first size (-b)"},
           {{"all_reduce", "-f", "x"}, "-f: bad value: got \"x\", expected a whole number from 0 on"},
           {{"all_reduce", "-f", "1.5"}, "-f: bad value"},
           {{"all_reduce", "-f", "-2"}, "-f: bad value"},
           {{"all_reduce", "-t", "0"}, "-t: bad value: got \"0\", expected a whole number from 1 to 1024"},
           {{"all_reduce", "-g", "0"}, "-g: bad value"},
           {{"all_reduce", "-g", "1025"}, "-g: bad value"},
           {{"all_reduce", "-n", "0"}, "-n: bad value: got \"0\", expected a whole number from 1 on"},
           {{"all_reduce", "-n", "ten"}, "-n: bad value"},
           {{"all_reduce", "-n", "20x"}, "-n: bad value"},
           {{"all_reduce", "-n", "99999999999"}, "-n: bad value"},
           {{"all_reduce", "-m", "0"}, "-m: bad value"},
           {{"all_reduce", "-w", "-1"}, "-w: bad value"},
           {{"all_reduce", "-N", "-1"}, "-N: bad value"},
           {{"all_reduce", "-c", "1.5"}, "-c: bad value"},
           {{"all_reduce", "-c", "-1"}, "-c: bad value"},
           {{"all_reduce", "-p", "2"}, "-p: bad value: got \"2\", expected 0 or 1"},
           {{"all_reduce", "-p", "yes"}, "-p: bad value"},
           {{"all_reduce", "-y", "-1"}, "-y: bad value"},
           {{"all_reduce", "-C", "2"}, "-C: bad value"},
           {{"all_reduce", "-S", ""}, "-S: bad value"},
           {{"all_reduce", "-M", "on"}, "-M: bad value"},
           {{"all_reduce", "-d", "real"}, "-d: bad value: got \"real\", expected int8"},
           {{"all_reduce", "-d", ""}, "-d: bad value"},
           {{"all_reduce", "-d", "FLOAT"}, "-d: bad value"},
           {{"all_reduce", "-d", "float,half"}, "-d: bad value"},
           {{"all_reduce", "-o", "plus"},
            "-o: bad value: got \"plus\", expected sum, prod, max, min, avg, mulsum, all"},
           {{"all_reduce", "-o", "none"}, "-o: bad value"},
           {{"broadcast", "-r", "-2"}, "-r: bad value: got \"-2\", expected a rank, or all (-1)"},
           {{"broadcast", "-r", "ALL"}, "-r: bad value"},
           {{"broadcast", "-r", ""}, "-r: bad value"},
           {{"all_reduce", "-z", "4"}, "-z: bad value: got \"4\", expected a whole number from 0 to 3"},
           {{"all_reduce", "-z", "-1"}, "-z: bad value"},
           {{"all_reduce", "-T", "-5"}, "-T: bad value"},
           {{"all_reduce", "-T", "5s"}, "-T: bad value"},
           {{"all_reduce", "-G", "-1"}, "-G: bad value"},
           {{"all_reduce", "-a", "4"}, "-a: bad value"},
           {{"all_reduce", "-R", "3"}, "-R: bad value: got \"3\", expected a whole number from 0 to 2"},
           {{"all_reduce", "-x", "3"}, "-x: bad value"},
           {{"all_reduce", "-x", "-1"}, "-x: bad value"},
           {{"all_reduce", "-D", "-1"}, "-D: bad value"},
           {{"all_reduce", "-V", "many"}, "-V: bad value: got \"many\", expected a whole number"},
           {{"all_reduce", "-u", "-4"}, "-u: bad value"},
           {{"all_reduce", "-I", "x"}, "-I: bad value"},
           {{"all_reduce", "-K", "1x"}, "-K: bad value"},
           {{"all_reduce", "-J", ""}, "-J: bad value: got \"\", expected the name of a file"},
           {{"all_reduce", "--json="}, "--json: bad value"},
           {{"all_reduce", "--csv", ""}, "--csv: bad value"},
           {{"all_reduce", "--nccl-debug="}, "--nccl-debug: bad value"},
           {{"all_reduce", "--backend", "gpu"}, "--backend: bad value: got \"gpu\", expected nccl or mpi"},
           {{"all_reduce", "--min-busbw", "-1"}, "--min-busbw: bad value: got \"-1\", expected GB/s"},
           {{"all_reduce", "--min-busbw", "fast"}, "--min-busbw: bad value"},
           {{"all_reduce", "--adaptive", "--adaptive-seconds", "0"}, "--adaptive-seconds: bad value"},
           {{"all_reduce", "--adaptive", "--adaptive-seconds", "nan"}, "expected seconds, 0.001 or more"},
       }) {
    const auto options = ParseOptions("nccl-bench", one.arguments, {});
    ASSERT_FALSE(options.ok()) << one.message;
    EXPECT_THAT(options.error().ToString(), HasSubstr(one.message));
    EXPECT_EQ(options.error().code, base::Code::kInvalidInput) << one.message;
  }
  EXPECT_THAT(ParseOptions("allsum_perf", {}, {}).error().ToString(), HasSubstr("allsum: no collective of this name"));
  EXPECT_THAT(ParseOptions("reduce_perf", {"pairs"}, {}).error().ToString(), HasSubstr("pairs: belongs to no option"));
}

}  // namespace
}  // namespace nccl_tune::bench
