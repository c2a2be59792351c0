// SPDX-License-Identifier: Apache-2.0
//
// The frame over a simulated backend: what is measured, in which order, and what is printed of it.
#include "bench/benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <regex>
#include <sstream>

#include "bench/simulated_backend.h"

namespace nccl_tune::bench {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct Ran {
  bool ok = false;
  Outcome outcome{};
  std::string error{};
  std::vector<std::string> failures{};  // told to on_failure
  std::string out{};
  std::string notes{};
  Record record{};
  std::vector<SimulatedCounts> counts{};
};

// What a run leaves. The first argument is the collective.
Ran RunWith(const std::vector<std::string>& arguments, const Simulation& simulation = {},
            const base::Environment& environment = {}, const std::optional<Traffic>& matrix = {},
            const std::optional<base::Error>& refusal = {}) {
  auto options = ParseOptions("nccl-bench", arguments, environment);
  if (!options.ok()) return {.error = options.error().ToString()};
  if (matrix) options.value().traffic = *matrix;
  SimulatedBackend backend({.options = *options}, simulation);
  std::ostringstream out;
  std::ostringstream notes;
  Reporter reporter({.out = &out, .notes = &notes}, {.options = *options,
                                                     .program = std::string(options->collective->name) + "_perf",
                                                     .own_version = "nccl-bench 0"});
  EXPECT_TRUE(simulation.process != 0 || reporter.Open().ok());
  Ran ran;
  const RunParts parts{
      .backend = &backend, .reporter = &reporter, .refusal = refusal, .on_failure = [&](const base::Error& error) {
        ran.failures.push_back(error.ToString());
        reporter.Fail(error.ToString());
        backend.Abort(1);
      }};
  const auto result = RunBenchmark(parts, *options);
  ran.ok = result.ok();
  ran.outcome = result.value_or(Outcome{});
  if (!result.ok()) {
    ran.error = result.error().ToString();
    if (ran.failures.empty()) reporter.Fail(ran.error);
  }
  static_cast<void>(reporter.Finish());
  ran.out = out.str();
  ran.notes = notes.str();
  ran.record = reporter.record();
  for (int i = 0; i < options->threads; ++i) ran.counts.push_back(backend.counts(static_cast<std::size_t>(i)));
  return ran;
}

// Times and bandwidths differ from run to run.
std::string Masked(const std::string& out) { return std::regex_replace(out, std::regex("[0-9]+\\.[0-9]+"), "T"); }

// The rows' first columns, blanks made one.
std::vector<std::string> Rows(const std::string& out) {
  std::vector<std::string> rows;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string row;
    std::string word;
    for (int i = 0; i < 5 && words >> word; ++i) row += (i == 0 ? "" : " ") + word;
    if (!line.empty() && line[0] == ' ') rows.push_back(row);
  }
  return rows;
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(BenchmarkTest, AWholeRun) {
  const Ran ran =
      RunWith({"all_reduce", "-b", "1M", "-e", "2M", "-f", "2", "-n", "2"},
              {.processes = 2, .identity = {.label = "simulated", .headers_code = 22809, .library_code = 22703}});
  ASSERT_TRUE(ran.ok) << ran.error;
  EXPECT_TRUE(ran.outcome.right);
  EXPECT_FALSE(ran.outcome.refused);
  EXPECT_EQ(ran.notes, "");
  const std::string& out = ran.out;
  EXPECT_THAT(
      out,
      StartsWith("# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22703\n"
                 "# nccl-bench 0 backend simulated\n"
                 "# Collective test starting: all_reduce_perf\n"
                 "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 1 iters: 2 agg "
                 "iters: 1 validation: 1 graph: 0 unalign: 0\n"
                 "#\n"
                 "# Using devices\n"
                 "#  Rank  0 Group  0 Pid   1000 on      node0 device  0 [0000:01:00] simulated\n"
                 "#  Rank  0 Group  0 Pid   1000 on      node0 device  0 [0000:01:00] simulated\n"
                 "#\n"
                 "#                                                              out-of-place                       "
                 "in-place          \n"
                 "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   "
                 "algbw   busbw  #wrong \n"
                 "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  "
                 "(GB/s)  (GB/s)         \n"
                 "     1048576        262144     float     sum      -1  "));
  EXPECT_THAT(Rows(out), testing::ElementsAre("1048576 262144 float sum -1", "2097152 524288 float sum -1"));
  const std::string end = out.substr(out.find("# Out of bounds"));
  EXPECT_EQ(Masked(std::regex_replace(end, std::regex("width    : [0-9.e+]+"), "width    : T")),
            "# Out of bounds values : 0 OK\n"
            "# Avg bus bandwidth    : T \n"
            "#\n"
            "# Collective test concluded: all_reduce_perf\n"
            "#\n"
            "\n");
  EXPECT_EQ(ran.record.rows.size(), 2);
  // 2 sizes: once to warm up; out of place and in place, 2 timed and 1 checked.
  EXPECT_EQ(ran.counts[0].starts, 2 * (1 + 2 * 3));
}

TEST(BenchmarkTest, TheOtherProcessesPrintNothing) {
  const Ran ran = RunWith({"all_reduce", "-b", "8", "-e", "8", "-n", "1"}, {.process = 1, .processes = 2});
  EXPECT_TRUE(ran.ok) << ran.error;
  EXPECT_EQ(ran.out + ran.notes, "");
}

TEST(BenchmarkTest, TypesOperationsRootsCycles) {
  const Simulation some{
      .processes = 2,
      .identity = {
          .label = "x", .types = {DataType::kInt8, DataType::kFloat}, .ops = {ReduceOp::kSum, ReduceOp::kMax}}};
  struct Case {
    std::vector<std::string> arguments;
    std::vector<std::string> rows;
  };
  for (const Case& one : {
           Case{{"reduce", "-d", "all", "-o", "all", "-r", "-1"},
                {"64 64 int8 sum 0", "64 64 int8 sum 1", "64 64 int8 max 0", "64 64 int8 max 1", "64 16 float sum 0",
                 "64 16 float sum 1", "64 16 float max 0", "64 16 float max 1"}},
           Case{{"broadcast", "-o", "all", "-r", "1"}, {"64 16 float none 1"}},
           Case{{"all_gather"}, {"64 8 float none -1"}},
           Case{{"all_reduce", "-N", "2"}, {"64 16 float sum -1", "64 16 float sum -1"}},
           Case{{"sendrecv", "-o", "max"}, {"64 16 float max -1"}},
       }) {
    std::vector<std::string> arguments = one.arguments;
    for (const char* word : {"-b", "64", "-e", "64", "-n", "1"}) arguments.emplace_back(word);
    const Ran ran = RunWith(arguments, some);
    EXPECT_TRUE(ran.ok) << ran.error;
    EXPECT_EQ(Rows(ran.out), one.rows);
  }
}

TEST(BenchmarkTest, EveryCollectiveTypeAndOperationIsRight) {
  for (const char* name : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "alltoall", "alltoallv",
                           "gather", "scatter", "sendrecv", "hypercube"}) {
    const Ran ran = RunWith({name, "-b", "1K", "-e", "1K", "-d", "all", "-o", "all", "-n", "1"}, {.processes = 4});
    EXPECT_TRUE(ran.ok && ran.outcome.right) << name << ran.error << ran.notes;
    EXPECT_THAT(ran.out, HasSubstr(" values : 0 OK\n")) << name;
  }
}

TEST(BenchmarkTest, OfAllTheLackingPairIsLeftOut) {
  const Ran ran = RunWith({"all_reduce", "-d", "all", "-o", "all", "-b", "64", "-e", "64", "-n", "1"},
                          {.identity = {.types = {DataType::kInt8, DataType::kFloat},
                                        .ops = {ReduceOp::kSum, ReduceOp::kMax},
                                        .lacking = {{DataType::kFloat, ReduceOp::kMax}}}});
  EXPECT_TRUE(ran.ok) << ran.error;
  EXPECT_THAT(Rows(ran.out), testing::ElementsAre("64 64 int8 sum -1", "64 64 int8 max -1", "64 16 float sum -1"));
}

TEST(BenchmarkTest, WhatIsRefused) {
  const auto matrix = Traffic::FromMatrix("1024 2048\n512 512\n", "matrix", 1);
  ASSERT_TRUE(matrix.ok());
  struct Case {
    std::vector<std::string> arguments;
    std::uint64_t ranks;
    std::optional<Traffic> matrix;
    const char* text;
  };
  for (const Case& one : {
           Case{{"broadcast", "-r", "4"}, 4, {}, "-r: there is no such rank: got \"4\""},
           Case{{"alltoallv", "-b", "3K", "-e", "3K"}, 3, *matrix, "the matrix has fewer rows than there are ranks"},
           Case{{"alltoallv", "-b", "2K", "-e", "2K"}, 2, *matrix, "-e: is less than a rank of the matrix sends"},
           Case{{"alltoallv", "-b", "3K", "-e", "6K"}, 2, *matrix, "-e: the sizes come from the matrix"},
       }) {
    const Ran ran = RunWith(one.arguments, {.processes = one.ranks}, {}, one.matrix);
    ASSERT_TRUE(ran.outcome.refused) << one.text << ran.error;
    EXPECT_EQ(ran.outcome.refused->code, base::Code::kInvalidInput);
    EXPECT_THAT(ran.outcome.refused->ToString(), HasSubstr(one.text));
    EXPECT_EQ(ran.counts[0].starts, 0);
  }
  const base::Error own{.code = base::Code::kNotFound, .what = "cannot be made", .where = "/none/a"};
  const Ran without = RunWith({"broadcast", "-r", "4"}, {.processes = 4}, {}, {}, own);
  ASSERT_TRUE(without.outcome.refused) << "found before, so first";
  EXPECT_EQ(without.outcome.refused->code, base::Code::kInvalidInput);
  EXPECT_EQ(without.outcome.refused->ToString(), "/none/a: cannot be made");
  const Ran named = RunWith({"all_reduce", "-d", "half"}, {.identity = {.types = {DataType::kFloat}}});
  EXPECT_FALSE(named.ok);
  EXPECT_THAT(named.error, HasSubstr("-d: not with these devices and this library: got \"half\""));
}

TEST(BenchmarkTest, WhatWasWrongBeforeTheStartIsRefusedWithTheOthers) {
  const base::Error gone{.code = base::Code::kUnreadable, .what = "gone", .where = "matrix"};
  const Ran ran = RunWith({"alltoallv"}, {.processes = 2}, {}, {}, gone);
  ASSERT_TRUE(ran.outcome.refused) << ran.error;
  EXPECT_EQ(ran.outcome.refused->code, base::Code::kInvalidInput);
  EXPECT_EQ(ran.outcome.refused->ToString(), "matrix: gone");
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.counts[0].starts, 0);
}

TEST(BenchmarkTest, HypercubeNeedsAPowerOfTwo) {
  const Ran ran = RunWith({"hypercube", "-b", "64", "-e", "64"}, {.processes = 3});
  ASSERT_TRUE(ran.outcome.refused);
  EXPECT_EQ(ran.outcome.refused->ToString(), "hypercube needs a number of ranks that is a power of 2: got \"3\"");
  EXPECT_EQ(ran.out.substr(ran.out.find("nRanks")),
            "nRanks 3 is not a power of 2, skipping\n"
            "# Out of bounds values : 0 OK\n"
            "# Avg bus bandwidth    : 0 \n"
            "#\n"
            "# Collective test concluded: hypercube_perf\n"
            "#\n"
            "\n");
  EXPECT_EQ(ran.counts[0].starts, 0);
}

TEST(BenchmarkTest, MemoryCutsTheSizes) {
  Ran ran = RunWith({"all_reduce", "-b", "512", "-e", "4K", "-f", "2", "-n", "1"}, {.memory = 6144});
  EXPECT_TRUE(ran.ok) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr(" maxBytes 4096 "));
  EXPECT_THAT(ran.out, HasSubstr("simulated\n#\n# Reducing maxBytes to 1024 due to memory limitation\n#\n"));
  EXPECT_THAT(Rows(ran.out), testing::ElementsAre("512 128 float sum -1", "1024 256 float sum -1"));
  ran = RunWith({"all_reduce", "-b", "2K", "-e", "4K", "-n", "1"}, {.memory = 6144});
  EXPECT_THAT(Rows(ran.out), testing::ElementsAre("1024 256 float sum -1"));
}

// As many as -I keeps: the columns are those of a few, and the warm-up is left out.
TEST(BenchmarkTest, AMillionIterationsAreTimedEach) {
  const Ran ran = RunWith({"all_reduce", "-b", "64", "-e", "64", "-n", "1000000", "-c", "0", "-I", "1", "-K", "10"},
                          {.processes = 2, .rank = {.seconds = [](const Call&, std::uint64_t start) {
                                             return start == 5 ? 7e-3 : start == 500'000 ? 3e-3 : 1e-3;
                                           }}});
  ASSERT_TRUE(ran.ok) << ran.error;
  std::istringstream lines(ran.out);
  std::string row;
  while (std::getline(lines, row) && !row.starts_with("          64 ")) {
  }
  std::istringstream words(row);
  const std::vector<std::string> found{std::istream_iterator<std::string>(words), {}};
  ASSERT_THAT(found, SizeIs(21)) << row;
  ASSERT_THAT(ran.record.rows, SizeIs(1));
  const auto& times = ran.record.rows[0].out_of_place.iterations;
  ASSERT_TRUE(times);
  EXPECT_THAT(times->times, SizeIs(1'000'000));
  EXPECT_NEAR(times->least, 1e-3, 1e-9);
  EXPECT_NEAR(times->greatest, 3e-3, 1e-6);  // start 5 is skipped
  EXPECT_NEAR(times->p99, 1e-3, 1e-6);
}

TEST(BenchmarkTest, ThreadsMeasureTogetherAndTheLeaderPrints) {
  const Ran ran =
      RunWith({"all_reduce", "-t", "3", "-b", "64", "-e", "128", "-f", "2", "-n", "2", "-I", "1"}, {.processes = 2});
  ASSERT_TRUE(ran.ok) << ran.error;
  EXPECT_THAT(Rows(ran.out), SizeIs(2));
  EXPECT_EQ(CountOf(ran.out, "Collective test concluded"), 1);
  ASSERT_THAT(ran.counts, SizeIs(3));
  for (const SimulatedCounts& one : ran.counts) {
    EXPECT_EQ(one.starts, ran.counts[0].starts);
    EXPECT_EQ(one.barriers, ran.counts[0].barriers);
  }
}

TEST(BenchmarkTest, AThreadThatFailsEndsAll) {
  const std::string json = std::string(std::getenv("TEST_TMPDIR")) + "/threads.json";
  const Ran ran = RunWith({"all_reduce", "-t", "3", "-b", "64", "-e", "1M", "-f", "2", "-n", "2", "--json", json},
                          {.rank = {.fault = SimulatedFault{.kind = SimulatedFault::Kind::kError, .at = 40}}});
  EXPECT_FALSE(ran.ok);
  EXPECT_EQ(ran.error, "call 40: broke");
  EXPECT_THAT(ran.failures, SizeIs(1));
  EXPECT_EQ(ran.out.back(), '\n');
  EXPECT_THAT(ran.out, Not(HasSubstr("concluded")));
  EXPECT_TRUE(ran.record.ended_early);
}

TEST(BenchmarkTest, GroupsCountTheirOwnRanks) {
  const Ran ran = RunWith({"reduce", "-b", "64", "-e", "64", "-n", "1", "-r", "-1"}, {.processes = 6},
                          {{"NCCL_TESTS_SPLIT", "MOD 2"}});
  EXPECT_TRUE(ran.ok) << ran.error;
  EXPECT_THAT(Rows(ran.out), SizeIs(3));
  EXPECT_EQ(ran.outcome.place.ranks, 3);
}

TEST(BenchmarkTest, WrongDataIsCountedPerWorkerAndBlock) {
  for (const char* type : {"int8", "uint64", "half", "float", "double", "bfloat16"}) {
    const Ran ran = RunWith({"all_reduce", "-b", "64", "-e", "64", "-n", "1", "-d", type, "-c", "3"}, {},
                            {{"NCCL_BENCH_TEST_CORRUPT", "0:5"}});
    EXPECT_TRUE(ran.ok);
    EXPECT_FALSE(ran.outcome.right);
    EXPECT_THAT(ran.out, HasSubstr("# Out of bounds values : 2 FAILED\n")) << type;
    EXPECT_THAT(ran.notes, HasSubstr(" out of place: rank 0: 1 wrong, first at offset 5: got ")) << type;
    EXPECT_THAT(ran.notes, HasSubstr(" in place: rank 0: 1 wrong, first at offset 5: got ")) << type;
  }
  // Each of 3 workers and, by the simulation, each of 2 processes; the elements are summed in the row.
  const Ran three = RunWith(
      {"all_reduce", "-t", "3", "-b", "64", "-e", "64", "-n", "1"},
      {.processes = 2, .rank = {.fault = SimulatedFault{.kind = SimulatedFault::Kind::kWrong, .at = 2, .offset = 3}}});
  EXPECT_THAT(three.out, HasSubstr("# Out of bounds values : 6 FAILED\n"));
  ASSERT_THAT(three.record.rows, SizeIs(1));
  EXPECT_EQ(three.record.rows[0].out_of_place.wrong, 0);
  EXPECT_EQ(three.record.rows[0].in_place.wrong, 6);
  EXPECT_EQ(CountOf(three.notes, "nccl-bench: wrong data: all_reduce of 16 float sum in place: rank "), 3);
  const Ran elsewhere = RunWith({"all_reduce", "-b", "64", "-e", "64", "-n", "1"}, {.processes = 2},
                                {{"NCCL_BENCH_TEST_CORRUPT", "1:5"}});
  EXPECT_TRUE(elsewhere.outcome.right);
  const Ran nan =
      RunWith({"all_reduce", "-b", "64", "-e", "64", "-n", "1"},
              {.rank = {.fault = SimulatedFault{.kind = SimulatedFault::Kind::kNan, .at = 1, .offset = 3}}});
  EXPECT_FALSE(nan.outcome.right);
  EXPECT_THAT(nan.notes, HasSubstr("offset 3: got nan, expected "));
}

TEST(BenchmarkTest, ABrokenRunClosesItsRow) {
  const std::string json = std::string(std::getenv("TEST_TMPDIR")) + "/broken.json";
  // Warm-up, then 2 timed and 1 checked, out of place and in place.
  for (const std::uint64_t at : {1U, 2U, 4U, 5U, 7U}) {
    for (const auto kind : {SimulatedFault::Kind::kError, SimulatedFault::Kind::kTimeout}) {
      const Ran ran = RunWith({"all_reduce", "-b", "64", "-e", "64", "-n", "2", "--json", json},
                              {.rank = {.fault = SimulatedFault{.kind = kind, .at = at}}});
      EXPECT_FALSE(ran.ok);
      EXPECT_THAT(ran.error, AnyOf("call " + std::to_string(at) + ": broke", "Test timeout"));
      EXPECT_EQ(ran.out.back(), '\n');
      EXPECT_TRUE(ran.record.ended_early);
      ASSERT_THAT(ran.record.rows, SizeIs(at >= 5 ? 1 : 0)) << at;
      for (const Row& row : ran.record.rows) EXPECT_FALSE(row.has_in_place);
    }
  }
}

TEST(BenchmarkTest, ColumnsOfTheFlags) {
  const std::vector<std::string> start = {"all_reduce", "-b", "64", "-e", "64", "-n", "2"};
  const auto with = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), start.begin(), start.end());
    return flags;
  };
  Ran ran = RunWith(with({"-S", "1"}));
  EXPECT_TRUE(std::regex_search(ran.out, std::regex(" 0  20[0-9-]{8} [0-9:]{8}\n"))) << ran.out;
  ran = RunWith(with({"-C", "1"}));
  EXPECT_THAT(ran.out, HasSubstr(" cputime "));
  ran = RunWith(with({"-I", "1"}));
  EXPECT_THAT(ran.out, HasSubstr(" i_cv% "));
  ASSERT_THAT(ran.record.rows, SizeIs(1));
  ASSERT_TRUE(ran.record.rows[0].out_of_place.iterations);
  EXPECT_THAT(ran.record.rows[0].out_of_place.iterations->times, SizeIs(2));
  ran = RunWith(with({"-M", "1"}), {.memory_use = {.initialization = 1024, .user_allocated = 2048, .collective = 0}});
  EXPECT_THAT(
      ran.out,
      HasSubstr(
          "concluded: all_reduce_perf\n# GPU memory usage     : Initialization 1.00 KB | User-Allocated 2.00 KB | "
          "Collective 0.00 B | Total  3.00 KB\n#\n"));
  ran = RunWith(with({"-c", "0"}));
  EXPECT_EQ(CountOf(ran.out, "    N/A"), 2);
  EXPECT_EQ(ran.counts[0].checks, 0);
  ran = RunWith(with({"-c", "3"}));
  EXPECT_EQ(ran.counts[0].checks, 6);
  ran = RunWith(with({}), {.last_error = "last words"});
  EXPECT_THAT(ran.out, HasSubstr("#\n# error: last words\n"));
}

TEST(BenchmarkTest, SummaryOfAlltoallv) {
  const Ran ran = RunWith({"alltoallv", "-b", "1K", "-e", "1K", "-n", "1"}, {.processes = 2},
                          {{"NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", "1"}});
  EXPECT_TRUE(ran.ok) << ran.error;
  EXPECT_EQ(CountOf(ran.out, "# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=generated nranks=2 total_bytes="), 2);
  EXPECT_EQ(CountOf(ran.out, "#   rank=1 send_bytes="), 2);
}

TEST(BenchmarkTest, TooLittleBandwidth) {
  const Ran ran = RunWith({"all_reduce", "-b", "8", "-e", "8", "-n", "1"}, {}, {{"NCCL_TESTS_MIN_BW", "1"}});
  EXPECT_TRUE(ran.ok);
  EXPECT_FALSE(ran.outcome.enough);
  EXPECT_THAT(ran.out, HasSubstr("# Avg bus bandwidth    : 0 FAILED\n"));
}

TEST(BenchmarkTest, AdaptiveReportsTheSpread) {
  const Ran ran = RunWith({"all_reduce", "-b", "1M", "-e", "1M", "--adaptive"},
                          {.processes = 2, .rank = {.seconds = [](const Call&, std::uint64_t) { return 1e-3; }}});
  ASSERT_TRUE(ran.ok) << ran.error;
  ASSERT_THAT(ran.record.rows, SizeIs(1));
  const auto& spread = ran.record.rows[0].in_place.spread;
  ASSERT_TRUE(spread);
  EXPECT_TRUE(spread->settled);
  EXPECT_NEAR(spread->median, 1e-3, 1e-9);
  EXPECT_NEAR(ran.record.rows[0].in_place.microseconds, 1000, 1e-3);
}

}  // namespace
}  // namespace nccl_tune::bench
