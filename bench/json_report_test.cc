// SPDX-License-Identifier: Apache-2.0
//
// The order of the members and the form of the numbers are those of nccl-tests 2.19.6's file, version 3.
#include "bench/json_report.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"
#include "bench/iteration_stats.h"

namespace nccl_tune::bench {
namespace {

using base::GetMember;
using base::Json;

Json Parsed(const Record& record) {
  const std::string text = JsonText(record);
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "one line";
  auto json = base::ParseJson(text);
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? *json : Json();
}

std::string Keys(const Json& object) {
  std::string keys;
  for (const auto& [key, value] : object.items()) keys += (keys.empty() ? "" : " ") + key;
  return keys;
}

Record Whole() {
  Record record;
  record.program = "all_reduce_perf";
  record.arguments = {"all_reduce_perf", "-b", "8"};
  record.environment = {"NCCL_DEBUG=WARN"};
  record.own_version = "nccl-bench 0.1.0";
  record.backend = "nccl (NCCL 2.28.9, /usr/lib/libnccl.so.2)";
  record.headers_code = 22809;
  record.library_code = 22810;
  record.options.sweep = {.min_bytes = 8, .max_bytes = 16, .factor = 2};
  record.start_time = "2026-12-01 10:00:00";
  record.end_time = "2026-12-01 10:00:09";
  record.devices = {{.rank = 0, .group = 1, .process_id = 4711, .host = "server1", .bus = 0x9b, .name = "NVIDIA H200"}};
  record.rows = {
      {.bytes = 8,
       .count = 2,
       .type = "float",
       .op = "sum",
       .root = -1,
       .out_of_place = {.microseconds = 12.3456789, .algorithm_bandwidth = 0.5, .bus_bandwidth = 1, .wrong = 3},
       .in_place = {.microseconds = 10, .algorithm_bandwidth = 2, .bus_bandwidth = 4, .wrong = {}}}};
  record.wrong = 3;
  record.average_bus_bandwidth = 2.5;
  return record;
}

TEST(JsonReportTest, WholeText) {
  EXPECT_EQ(
      JsonText(Whole()),
      R"({"version":3,"start_time":"2026-12-01 10:00:00","args":["all_reduce_perf","-b","8"],"env":["NCCL_DEBUG=WARN"],)"
      R"("nccl_version":22810,"config":{"nthreads":1,"ngpus":1,"minimum_bytes":8,"maximum_bytes":16,"step_factor":2,)"
      R"("warmup_iters":1,"iterations":20,"aggregated_iterations":1,"validation":1,"graph":0,)"
      R"("blocking_collectives":"false","per_iter_timing":"false","per_iter_skip":0,"parallel_init":"false",)"
      R"("devices":[{"rank":0,"group":1,"pid":4711,"hostname":"server1","device":0,"device_hex":"0000:9b:00",)"
      R"("device_info":"NVIDIA H200"}]},"results":[{"size":8,"count":2,"type":"float","redop":"sum","root":"    -1",)"
      R"("out_of_place":{"time":12.345679,"alg_bw":0.500000,"bus_bw":1.000000,"nwrong":3.000000},)"
      R"("in_place":{"time":10.000000,"alg_bw":2.000000,"bus_bw":4.000000,"nwrong":null},)"
      R"("actual_iterations":20,"experiment_name":""}],"out_of_bounds":{"count":3,"okay":"false"},)"
      R"("average_bus_bandwidth":{"bandwidth":2.500000,"okay":"unchecked"},"errors":[],)"
      R"("end_time":"2026-12-01 10:00:09","nccl_bench":{"version":"nccl-bench 0.1.0",)"
      R"j("backend":"nccl (NCCL 2.28.9, /usr/lib/libnccl.so.2)","program":"all_reduce_perf","nccl_headers":22809,)j"
      R"("ranks":1,"complete":true,"verdicts":[],"doubts":[]}})"
      "\n");
}

TEST(JsonReportTest, Config) {
  Record record = Whole();
  record.options.sweep = {.min_bytes = 0, .max_bytes = 4096, .step_bytes = 512};
  record.options.threads = 2;
  record.options.gpus = 3;
  record.options.warmup = 5;
  record.options.iterations = 7;
  record.options.aggregated = 4;
  record.options.checks = 0;
  record.options.graph_launches = 9;
  record.options.blocking = Blocking::kOuter;
  record.options.times_iterations = true;
  record.options.skipped_iterations = 2;
  record.options.parallel_init = true;
  const Json config = GetMember(Parsed(record), "config");
  EXPECT_EQ(Keys(config),
            "nthreads ngpus minimum_bytes maximum_bytes step_bytes warmup_iters iterations aggregated_iterations "
            "validation graph blocking_collectives per_iter_timing per_iter_skip parallel_init devices");
  for (const auto& [key, value] : std::vector<std::pair<std::string, int>>{{"nthreads", 2},
                                                                           {"ngpus", 3},
                                                                           {"maximum_bytes", 4096},
                                                                           {"step_bytes", 512},
                                                                           {"warmup_iters", 5},
                                                                           {"iterations", 7},
                                                                           {"aggregated_iterations", 4},
                                                                           {"validation", 0},
                                                                           {"graph", 9},
                                                                           {"per_iter_skip", 2}}) {
    EXPECT_EQ(base::GetInteger(config, key), value) << key;
  }
  for (const char* key : {"blocking_collectives", "per_iter_timing", "parallel_init"}) {
    EXPECT_EQ(base::GetString(config, key), "true") << key;
  }
}

TEST(JsonReportTest, OneDeviceAProcessAsInNcclTestsAllOfThemInOurs) {
  Record record = Whole();
  record.options.threads = 2;
  record.devices.assign(4, record.devices[0]);
  for (std::size_t i = 0; i < 4; ++i) record.devices[i].rank = i;
  const Json json = Parsed(record);
  const Json& theirs = GetMember(GetMember(json, "config"), "devices");
  ASSERT_EQ(theirs.size(), 2U);
  EXPECT_EQ(base::GetInteger(theirs[1], "rank"), 2);
  const Json& ours = GetMember(json, "nccl_bench");
  EXPECT_EQ(GetMember(ours, "devices").size(), 4U);
  EXPECT_EQ(base::GetInteger(ours, "ranks"), 4);
}

TEST(JsonReportTest, CpuTimeAndTimesOfIterations) {
  Record record = Whole();
  record.options.reports_cpu_time = true;
  Row& row = record.rows[0];
  row.out_of_place.iterations = SummariseIterations({9e-6, 2e-6, 4e-6}, {{9e-6, 1e-6, 4e-6}, {8e-6, 2e-6, 3e-6}}, 1);
  row.in_place.iterations = SummariseIterations({1e-6}, {{1e-6}}, 0);
  const Json json = Parsed(record);
  const Json& result = GetMember(json, "results")[0];
  EXPECT_EQ(Keys(result),
            "size count type redop root out_of_place out_of_place_per_iter in_place in_place_per_iter "
            "actual_iterations experiment_name");
  EXPECT_EQ(Keys(GetMember(result, "out_of_place")), "cpu_time alg_bw bus_bw nwrong");
  EXPECT_EQ(GetMember(result, "out_of_place_per_iter").dump(),
            R"({"skipped_iterations":1,"min_us":2.0,"max_us":4.0,"avg_us":3.0,"p50_us":4.0,"p95_us":4.0,)"
            R"("p99_us":4.0,"stdev_us":1.0,"cv_pct":33.333333,"times_us":[9.0,2.0,4.0],)"
            R"("per_process_max_times_us":[[9.0,1.0,4.0],[8.0,2.0,3.0]]})");
  EXPECT_EQ(Keys(GetMember(result, "in_place_per_iter")),
            "skipped_iterations min_us max_us avg_us p50_us p95_us p99_us stdev_us cv_pct times_us")
      << "one process has no list of processes";
}

TEST(JsonReportTest, EmptyOpAndRoots) {
  Record record = Whole();
  record.rows[0].op = "";
  record.rows[0].root = 1234567;
  const Json json = Parsed(record);
  const Json& result = GetMember(json, "results")[0];
  EXPECT_EQ(base::GetString(result, "redop"), "");
  EXPECT_EQ(base::GetString(result, "root"), "1234567");
}

TEST(JsonReportTest, Enough) {
  for (const bool enough : {false, true}) {
    Record record = Whole();
    record.enough = enough;
    record.wrong = 0;
    const Json json = Parsed(record);
    EXPECT_EQ(base::GetString(GetMember(json, "average_bus_bandwidth"), "okay"), enough ? "true" : "false");
    EXPECT_EQ(base::GetString(GetMember(json, "out_of_bounds"), "okay"), "true");
  }
}

TEST(JsonReportTest, Spread) {
  Record record = Whole();
  EXPECT_TRUE(GetMember(GetMember(Parsed(record), "nccl_bench"), "spread").is_null());
  record.rows[0].in_place.spread = {.samples = 40, .median = 5e-6, .p99 = 7e-6, .low = 4e-6, .high = 6e-6};
  record.rows[0].out_of_place.spread = {.samples = 30, .settled = true};
  const Json json = Parsed(record);
  EXPECT_EQ(GetMember(GetMember(json, "nccl_bench"), "spread").dump(),
            R"([{"size":8,"out_of_place":{"samples":30,"median_us":0.0,"p99_us":0.0,"ci95_low_us":0.0,)"
            R"("ci95_high_us":0.0,"settled":true},"in_place":{"samples":40,"median_us":5.0,"p99_us":7.0,)"
            R"("ci95_low_us":4.0,"ci95_high_us":6.0,"settled":false}}])");
  EXPECT_EQ(base::GetInteger(GetMember(json, "results")[0], "actual_iterations"), 30);
}

TEST(JsonReportTest, Unfinished) {
  const std::string front = "version start_time args env nccl_version config results ";
  EXPECT_EQ(Keys(Parsed({})), front + "errors nccl_bench");
  Record record = Whole();
  record.end_time = "";
  EXPECT_EQ(Keys(Parsed(record)), front + "errors nccl_bench") << "while it runs";
  record = Whole();
  record.ended_early = true;
  record.rows[0].has_in_place = false;
  record.errors = {"server1: Test NCCL failure", "unhandled system error"};
  const Json json = Parsed(record);
  EXPECT_EQ(Keys(json), front + "errors end_time nccl_bench");
  EXPECT_EQ(GetMember(json, "errors").size(), 2U);
  EXPECT_EQ(Keys(GetMember(json, "results")[0]), "size count type redop root out_of_place");
  EXPECT_EQ(base::GetBool(GetMember(json, "nccl_bench"), "complete"), false);
}

TEST(JsonReportTest, AnyTextAndAnyNumberIsValidJson) {
  for (const std::string& odd : std::vector<std::string>{std::string("\0\x01\x1f", 3), "\xff\xfe", "\"}]", "a\\",
                                                         "\n\r\t", "\xe2\x80\xa8", "\xed\xa0\x80", "</script>"}) {
    Record record = Whole();
    record.program = record.own_version = record.backend = record.start_time = record.end_time = odd;
    record.arguments = record.environment = record.errors = record.verdicts = record.doubts = {odd, "", odd};
    record.devices[0].host = record.devices[0].name = odd;
    record.rows[0].type = record.rows[0].op = odd;
    const Json json = Parsed(record);
    EXPECT_EQ(GetMember(json, "errors").size(), 3U);
  }
  for (const double odd : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::max()}) {
    Record record = Whole();
    record.average_bus_bandwidth = odd;
    record.rows[0].out_of_place = {.microseconds = odd,
                                   .algorithm_bandwidth = odd,
                                   .bus_bandwidth = odd,
                                   .wrong = odd,
                                   .iterations = SummariseIterations({odd, odd}, {}, 0),
                                   .spread = Spread{.median = odd}};
    Parsed(record);
  }
}

}  // namespace
}  // namespace nccl_tune::bench
