// SPDX-License-Identifier: Apache-2.0
//
// The widths and words are those of nccl-tests 2.19.6. The texts are what the C library's printf makes of its formats
// and of the numbers here.
#include "bench/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "bench/iteration_stats.h"

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

int Tokens(const std::string& line) {
  std::istringstream words(line);
  int tokens = 0;
  for (std::string word; words >> word;) ++tokens;
  return tokens;
}

Record Small() {
  Record record;
  record.headers_code = 22809;
  record.library_code = 23007;
  record.own_version = "nccl-bench 0.1.0";
  record.backend = "nccl (NCCL 2.30.7, /usr/lib/libnccl.so.2)";
  record.program = "all_reduce_perf";
  return record;
}

TEST(TableTest, Header) {
  EXPECT_EQ(
      HeaderText(Small()),
      R"(# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=23007)"
      "\n"
      "# nccl-bench 0.1.0 backend nccl (NCCL 2.30.7, /usr/lib/libnccl.so.2)\n"
      R"(# Collective test starting: all_reduce_perf)"
      "\n"
      R"(# nThread 1 nGpus 1 minBytes 33554432 maxBytes 33554432 step: 1048576(bytes) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0)"
      "\n"
      "#\n"
      "# Using devices\n");
  Record record = Small();
  record.options.sweep = {.min_bytes = 8, .max_bytes = 67108864, .factor = 2};
  record.options.threads = 2;
  record.options.gpus = 4;
  record.options.warmup = 5;
  record.options.aggregated = 3;
  record.options.graph_launches = 6;
  record.options.unaligned = 7;
  EXPECT_EQ(
      Lines(HeaderText(record))[3],
      R"(# nThread 2 nGpus 4 minBytes 8 maxBytes 67108864 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 3 validation: 1 graph: 6 unalign: 7)");
}

// The lines between the fourth and "#".
std::string ModeText(const Options& options) {
  Record record = Small();
  record.options = options;
  std::string text;
  const auto lines = Lines(HeaderText(record));
  EXPECT_EQ(lines[lines.size() - 2], "#");
  for (std::size_t i = 4; i + 2 < lines.size(); ++i) text += lines[i] + "\n";
  return text;
}

TEST(TableTest, LinesOfModes) {
  EXPECT_EQ(ModeText({}), "");
  EXPECT_EQ(ModeText({.blocking = Blocking::kWaitAndBarrier}),
            "# Blocking Enabled: wait and barrier after each inner iteration (-m) \n");
  EXPECT_EQ(ModeText({.blocking = Blocking::kWait}),
            "# Blocking Enabled: wait after each inner iteration (-m), no barrier \n");
  EXPECT_EQ(ModeText({.blocking = Blocking::kOuter}),
            "# Blocking Enabled: wait and barrier after each outer iteration (-n); time excludes barrier \n");
  EXPECT_EQ(ModeText({.times_iterations = true}),
            "# Per-Iteration Report: CUDA event timing; i_* uses max over process rows \n");
  EXPECT_EQ(ModeText({.times_iterations = true, .skipped_iterations = 3}),
            "# Per-Iteration Report: CUDA event timing; i_* uses max over process rows; summary skips first 3 "
            "iterations \n");
  EXPECT_EQ(ModeText({.skipped_iterations = 3}), "");
  EXPECT_EQ(ModeText({.parallel_init = true, .blocking = Blocking::kWait, .times_iterations = true}),
            "# Blocking Enabled: wait after each inner iteration (-m), no barrier \n"
            "# Per-Iteration Report: CUDA event timing; i_* uses max over process rows \n"
            "# Parallel Init Enabled: threads call into NcclInitRank concurrently \n");
}

TEST(TableTest, OurLineLooksLikeNoOther) {
  const auto own = [](const std::string& label) {
    Record record = Small();
    record.backend = label;
    const auto lines = Lines(HeaderText(record));
    EXPECT_EQ(lines.size(), 6U);
    return lines[1];
  };
  EXPECT_EQ(own("mpi (Open MPI 4.1.4)"), "# nccl-bench 0.1.0 backend mpi (Open MPI 4.1.4)");
  for (const char* path : {"/opt/bandwidth/libnccl.so", "/opt/FAILED", "/x/Test failure", "/x/Test NCCL failure",
                           "/x/out-of-place", "/x/Out of bounds values", "/x/Rank 1 device", "/built on monday"}) {
    EXPECT_EQ(own("nccl (NCCL 2.30.7, " + std::string(path) + ")"), "# nccl-bench 0.1.0 backend nccl") << path;
  }
  EXPECT_EQ(own("nccl (a\nb)"), "# nccl-bench 0.1.0 backend nccl (a\\x0ab)");
  EXPECT_EQ(own(""), "# nccl-bench 0.1.0 backend ");
}

TEST(TableTest, JsonNotices) {
  EXPECT_EQ(WritingJsonText("a.json.0"), "# Writing JSON output to a.json.0\n");
  EXPECT_EQ(SkippingJsonText("x/a.json"), "# skipping json output; x/a.json not accessible\n");
}

TEST(TableTest, Device) {
  const std::vector<Device> devices = {
      {.rank = 3, .process_id = 4711, .host = "server2", .index = 1, .bus = 0x9b, .name = "NVIDIA H200"},
      {.rank = 128,
       .group = 123,
       .process_id = 1234567,
       .host = "a-longer-name",
       .index = 16,
       .domain = 0x10000,
       .bus = 1,
       .slot = 10,
       .name = "x"}};
  const std::string both = R"(#  Rank  3 Group  0 Pid   4711 on    server2 device  1 [0000:9b:00] NVIDIA H200)"
                           "\n"
                           R"(#  Rank 128 Group 123 Pid 1234567 on a-longer-name device 16 [10000:01:0a] x)"
                           "\n";
  EXPECT_EQ(DeviceLines(devices), both);
  EXPECT_EQ(DeviceLine(devices[0]) + DeviceLine(devices[1]), both);
  EXPECT_EQ(AddressText(devices[1]), "10000:01:0a");
}

TEST(TableTest, LinesOfAProcessAreCut) {
  const std::string front = DeviceLine({});
  const auto of_size = [&](std::size_t bytes) {
    return DeviceLines({{.name = std::string(bytes - front.size(), 'x')}});
  };
  EXPECT_EQ(of_size(2047).size(), 2047U);
  EXPECT_EQ(of_size(2047).back(), '\n');
  EXPECT_THAT(of_size(2047), HasSubstr("xxx\n"));
  for (const std::size_t bytes : {2048U, 2049U, 5000U}) {
    EXPECT_EQ(of_size(bytes),
              DeviceLine({.name = std::string(2043 - front.size() + 1, 'x')}).substr(0, 2043) + "...\n");
  }
  // 40 lines of 70 bytes: the 30th is cut, no other follows.
  std::vector<Device> many(40, {.name = "NVIDIA H200"});
  const std::string line = DeviceLine(many[0]);
  const std::string text = DeviceLines(many);
  EXPECT_EQ(text.size(), 2047U);
  EXPECT_EQ(text.substr(0, line.size()), line);
  EXPECT_THAT(text, testing::EndsWith("...\n"));
  EXPECT_EQ(DeviceLines({}), "");
}

TEST(TableTest, MemoryCut) {
  EXPECT_EQ(MemoryCutText(std::nullopt), "");
  EXPECT_EQ(MemoryCutText(1024), "#\n# Reducing maxBytes to 1024 due to memory limitation\n");
}

TEST(TableTest, Columns) {
  // By -I; by -I and -S; by -I, -C and -S.
  const std::string bands[2] = {
      R"(#                                                              out-of-place                       in-place          )",
      R"(#                                                                 out-of-place (+ per-iteration)                                in-place (+ per-iteration))"};
  const std::string units[2][2] = {
      {R"(#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         )",
       R"(#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)           %Y-%m-%d %H:%M:%S)"},
      {R"(#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)     (us)     (us)      (%)     (us)  (GB/s)  (GB/s)             (us)     (us)     (us)      (%) )",
       R"(#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)     (us)     (us)      (%)     (us)  (GB/s)  (GB/s)             (us)     (us)     (us)      (%)   %Y-%m-%d %H:%M:%S)"}};
  const std::string names[2][2][2] = {
      {{R"(#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong )",
        R"(#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong           timestamp)"},
       {R"(#       size         count      type   redop    root  cputime   algbw   busbw  #wrong  cputime   algbw   busbw  #wrong )",
        R"(#       size         count      type   redop    root  cputime   algbw   busbw  #wrong  cputime   algbw   busbw  #wrong           timestamp)"}},
      {{R"(#       size         count      type   redop    root     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv% )",
        R"(#       size         count      type   redop    root     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%           timestamp)"},
       {R"(#       size         count      type   redop    root  cputime   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%  cputime   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv% )",
        R"(#       size         count      type   redop    root  cputime   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%  cputime   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%           timestamp)"}}};
  for (const bool iterations : {false, true}) {
    for (const bool cpu_time : {false, true}) {
      for (const bool stamps : {false, true}) {
        const Options options{
            .reports_cpu_time = cpu_time, .reports_timestamps = stamps, .times_iterations = iterations};
        EXPECT_EQ(ColumnText(options), "#\n" + bands[iterations] + "\n" + names[iterations][cpu_time][stamps] + "\n" +
                                           units[iterations][stamps] + "\n");
      }
    }
  }
  const auto lines = Lines(ColumnText({}));
  EXPECT_EQ(lines[1].size(), 116U);
  EXPECT_EQ(lines[2].size(), 119U);
  EXPECT_EQ(lines[3].size(), 119U);
}

Block Numbers(double time, double algorithm, double bus, std::optional<double> wrong) {
  return {.microseconds = time, .algorithm_bandwidth = algorithm, .bus_bandwidth = bus, .wrong = wrong};
}

std::string Whole(const Row& row, const Options& options = {}) {
  return RowText(row) + BlockText(row.out_of_place) + BlockText(row.in_place) + RowEndText(row, options);
}

TEST(TableTest, Rows) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const std::vector<Row> rows = {
      {8, 2, "float", "sum", -1, Numbers(5.678, 0.001, 0.002, 0), Numbers(5.4, 0.0014, 0.0028, 0)},
      {33554432, 8388608, "bfloat16", "none", 1234567, Numbers(123456.7, 0.2718, 0.3624, 1234567),
       Numbers(9999.996, 999.996, 9999.96, {})},
      {17179869184, 17179869184, "uint8", "", -1, Numbers(99999.96, 123456.7, 1e7, 100000),
       Numbers(12345678, 0, 0, {})},
      {0, 0, "half", "mulsum", 0, Numbers(0, 0, 0, 0), Numbers(0, kNone, kInfinite, 999999)},
      {1024, 256, "float", "sum", -1, Numbers(kNone, -kNone, -kInfinite, 999999999999),
       Numbers(-3.5, -0.001, -123456.7, {})},
  };
  std::string text;
  for (const Row& row : rows) text += Whole(row);
  EXPECT_EQ(
      text,
      R"(           8             2     float     sum      -1     5.68    0.00    0.00       0     5.40    0.00    0.00       0)"
      "\n"
      R"(    33554432       8388608  bfloat16    none  1234567   123457    0.27    0.36  1.23457e+06  10000.0  1000.0   10000    N/A)"
      "\n"
      R"( 17179869184   17179869184     uint8              -1   100000  123457   1e+07  100000  1.2e+07    0.00    0.00    N/A)"
      "\n"
      R"(           0             0      half  mulsum       0     0.00    0.00    0.00       0     0.00     nan     inf  999999)"
      "\n"
      R"(        1024           256     float     sum      -1      nan    -nan    -inf   1e+12    -3.50   -0.00  -1e+05    N/A)"
      "\n");
  EXPECT_EQ(RowText(rows[0]).size(), 52U);
  EXPECT_EQ(BlockText(rows[0].out_of_place).size(), 33U);
  EXPECT_EQ(BlockText(rows[1].in_place).size(), 32U);
  EXPECT_EQ(Whole(rows[0]).size(), 118U + 1U);
  EXPECT_EQ(Tokens(Whole(rows[0])), 13);
  EXPECT_EQ(Tokens(Whole(rows[2])), 12) << "without an op";
}

TEST(TableTest, RowsWithTimeStampAndIterations) {
  const Options stamps{.reports_timestamps = true};
  Row row{.bytes = 8,
          .count = 2,
          .type = "float",
          .op = "sum",
          .out_of_place = Numbers(5, 1, 2, 0),
          .in_place = Numbers(5, 1, 2, {}),
          .timestamp = "2026-12-01 10:00:00"};
  EXPECT_EQ(
      Whole(row, stamps),
      R"(           8             2     float     sum      -1     5.00    1.00    2.00       0     5.00    1.00    2.00    N/A  2026-12-01 10:00:00)"
      "\n");
  row.in_place.wrong = 0;
  row.out_of_place.iterations = SummariseIterations({4e-6, 2e-6}, {}, 0);
  row.in_place.iterations =
      IterationTimes{.least = 1.2345678, .greatest = 12.345678, .mean = 1, .p99 = 0.1234567, .deviation = 0};
  EXPECT_EQ(
      Whole(row, stamps),
      R"(           8             2     float     sum      -1     5.00    1.00    2.00       0     2.00     4.00     4.00    33.33     5.00    1.00    2.00       0  1234568  1.2e+07   123457     0.00  2026-12-01 10:00:00)"
      "\n");
  EXPECT_EQ(Tokens(Whole(row)), 21);
}

TEST(TableTest, TrafficOfAlltoallv) {
  EXPECT_EQ(
      TrafficText({.total_bytes = 1048576, .seconds = 12.5e-6, .ranks = {{524288, 1048576}, {524288, 0}}}) +
          TrafficText({.is_matrix = true, .side = 3, .scale = 0.5, .seconds = 2, .ranks = {{0, 0}}}),
      R"(# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=generated nranks=2 total_bytes=1048576 spread=1.000 time_usec=12.50)"
      "\n"
      R"(#   rank=0 send_bytes=524288 recv_bytes=1048576 alg_bw=83.89 bus_bw=41.94)"
      "\n"
      R"(#   rank=1 send_bytes=524288 recv_bytes=0 alg_bw=41.94 bus_bw=20.97)"
      "\n"
      R"(# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=matrix nranks=1 matrix_dim=3 scale=0.500 time_usec=2000000.00)"
      "\n"
      R"(#   rank=0 send_bytes=0 recv_bytes=0 alg_bw=0.00 bus_bw=0.00)"
      "\n");
}

TEST(TableTest, Footer) {
  Record record = Small();
  record.average_bus_bandwidth = 0.0724519;
  std::string text = FooterText(record);
  record.wrong = 3;
  record.average_bus_bandwidth = 1234567;
  record.enough = false;
  record.program = "x";
  text += FooterText(record);
  EXPECT_EQ(text, R"(# Out of bounds values : 0 OK)"
                  "\n"
                  R"(# Avg bus bandwidth    : 0.0724519 )"
                  "\n"
                  R"(#)"
                  "\n"
                  R"(# Collective test concluded: all_reduce_perf)"
                  "\n"
                  R"(# Out of bounds values : 3 FAILED)"
                  "\n"
                  R"(# Avg bus bandwidth    : 1.23457e+06 FAILED)"
                  "\n"
                  R"(#)"
                  "\n"
                  R"(# Collective test concluded: x)"
                  "\n");
  record.enough = true;
  EXPECT_THAT(FooterText(record), HasSubstr("bandwidth    : 1.23457e+06 OK\n"));
  EXPECT_THAT(FooterText({}), Not(HasSubstr("FAILED")));
}

TEST(TableTest, Memory) {
  EXPECT_EQ(MemoryText({.initialization = 1073741824, .user_allocated = 102400, .collective = 0}),
            "# GPU memory usage     : Initialization 1.00 GB | User-Allocated 100 KB | Collective 0.00 B | Total  1.00 "
            "GB\n");
  struct Case {
    std::int64_t bytes;
    const char* text;
  };
  for (const Case& one : std::vector<Case>{{0, "0.00 B"},
                                           {1, "1.00 B"},
                                           {10, "10.0 B"},
                                           {99, "99.0 B"},
                                           {100, "100 B"},
                                           {1023, "1023 B"},
                                           {1024, "1.00 KB"},
                                           {10240, "10.0 KB"},
                                           {102400, "100 KB"},
                                           {1048575, "1024 KB"},
                                           {1048576, "1.00 MB"},
                                           {1073741823, "1024 MB"},
                                           {1073741824, "1.00 GB"},
                                           {-2097152, "-2.00 MB"},
                                           {std::int64_t{1} << 50, "1048576 GB"},
                                           {std::numeric_limits<std::int64_t>::min(), "-8589934592 GB"}}) {
    EXPECT_THAT(MemoryText({.collective = one.bytes}),
                HasSubstr("Collective " + std::string(one.text) + " | Total  " + one.text + "\n"));
  }
}

TEST(TableTest, End) {
  EXPECT_EQ(EndText(""), "#\n\n");
  EXPECT_EQ(EndText("unhandled system error"), "#\n# error: unhandled system error\n");
  EXPECT_EQ(EndText("a\nb\tc\r"), "#\n# error: a b c \n");
}

}  // namespace
}  // namespace nccl_tune::bench
