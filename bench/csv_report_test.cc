// SPDX-License-Identifier: Apache-2.0
#include "bench/csv_report.h"

#include <gtest/gtest.h>

#include <charconv>
#include <limits>
#include <locale>
#include <map>
#include <utility>
#include <vector>

#include "bench/iteration_stats.h"

namespace nccl_tune::bench {
namespace {

using Cells = std::vector<std::string>;

// The rules of RFC 4180, with a line feed alone as line end.
std::vector<Cells> Parse(const std::string& text) {
  std::vector<Cells> lines;
  Cells cells;
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cell += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      cells.push_back(std::exchange(cell, ""));
      if (c == '\n') lines.push_back(std::exchange(cells, {}));
    } else {
      cell += c;
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_TRUE(cells.empty() && cell.empty()) << "the last line has an end";
  return lines;
}

// The named cells of row `at`.
std::map<std::string, std::string> Cell(const Record& record, std::size_t at = 0) {
  const auto lines = Parse(CsvText(record));
  std::map<std::string, std::string> named;
  EXPECT_EQ(lines[at + 1].size(), lines[0].size());
  for (std::size_t i = 0; i < lines[0].size(); ++i) named[lines[0][i]] = lines[at + 1][i];
  EXPECT_EQ(named.size(), lines[0].size()) << "no name stands twice";
  return named;
}

double Number(const std::string& text) {
  double number = 0;
  EXPECT_EQ(std::from_chars(text.data(), text.data() + text.size(), number).ptr, text.data() + text.size()) << text;
  return number;
}

Record OneRow() {
  Record record;
  record.program = "all_reduce_perf";
  record.backend = "mpi";
  record.devices.resize(2);
  record.rows = {{.bytes = 1048576,
                  .count = 262144,
                  .type = "float",
                  .op = "sum",
                  .out_of_place = {.microseconds = 0.1, .algorithm_bandwidth = 1.0 / 3, .bus_bandwidth = 2, .wrong = 0},
                  .in_place = {.microseconds = 1e7, .algorithm_bandwidth = 1, .bus_bandwidth = 1e-9, .wrong = {}}}};
  return record;
}

TEST(CsvReportTest, NamesOnceAndALineARow) {
  EXPECT_EQ(CsvText({}),
            "size,count,type,redop,root,"
            "oop_time_us,oop_algbw,oop_busbw,oop_wrong,oop_min_us,oop_max_us,oop_avg_us,oop_p50_us,oop_p95_us,"
            "oop_p99_us,oop_stdev_us,oop_cv_pct,oop_samples,oop_ci95_low_us,oop_ci95_high_us,oop_settled,"
            "ip_time_us,ip_algbw,ip_busbw,ip_wrong,ip_min_us,ip_max_us,ip_avg_us,ip_p50_us,ip_p95_us,ip_p99_us,"
            "ip_stdev_us,ip_cv_pct,ip_samples,ip_ci95_low_us,ip_ci95_high_us,ip_settled,"
            "cpu_time,timestamp,program,backend,ranks\n");
  Record record = OneRow();
  record.rows.push_back(record.rows[0]);
  EXPECT_EQ(Parse(CsvText(record)).size(), 3U);
}

TEST(CsvReportTest, NumbersKeepAllDigits) {
  auto cell = Cell(OneRow());
  EXPECT_EQ(cell["size"], "1048576");
  EXPECT_EQ(cell["count"], "262144");
  EXPECT_EQ(cell["root"], "-1");
  EXPECT_EQ(cell["oop_time_us"], "0.1");
  EXPECT_EQ(cell["oop_algbw"], "0.3333333333333333");
  EXPECT_EQ(cell["oop_wrong"], "0");
  EXPECT_EQ(cell["oop_p50_us"], "");
  EXPECT_EQ(cell["oop_settled"], "");
  EXPECT_EQ(cell["ip_time_us"], "1e+07");
  EXPECT_EQ(cell["ip_busbw"], "1e-09");
  EXPECT_EQ(cell["ip_wrong"], "");
  EXPECT_EQ(cell["cpu_time"], "false");
  EXPECT_EQ(cell["ranks"], "2");
}

TEST(CsvReportTest, OddNumbers) {
  Record record = OneRow();
  record.options.reports_cpu_time = true;
  record.rows[0].bytes = std::numeric_limits<std::uint64_t>::max();
  record.rows[0].out_of_place.microseconds = -std::numeric_limits<double>::quiet_NaN();
  record.rows[0].out_of_place.bus_bandwidth = std::numeric_limits<double>::infinity();
  auto cell = Cell(record);
  EXPECT_EQ(cell["size"], "18446744073709551615");
  EXPECT_EQ(cell["oop_time_us"], "nan");
  EXPECT_EQ(cell["oop_busbw"], "inf");
  EXPECT_EQ(cell["cpu_time"], "true");
}

TEST(CsvReportTest, AnotherLocaleChangesNothing) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::string before = CsvText(OneRow());
  const std::locale old = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const std::string under = CsvText(OneRow());
  std::locale::global(old);
  EXPECT_EQ(under, before);
}

TEST(CsvReportTest, Quoting) {
  struct Case {
    std::string text;
    std::string cell;
  };
  for (const Case& one : std::vector<Case>{{"", ""},
                                           {"mpi", "mpi"},
                                           {"nccl (NCCL 2.28.9, /usr/lib)", "\"nccl (NCCL 2.28.9, /usr/lib)\""},
                                           {"a\"b", "\"a\"\"b\""},
                                           {"a\nb", "\"a\nb\""},
                                           {"a\rb", "\"a\rb\""},
                                           {"\"", "\"\"\"\""},
                                           {" a ", " a "}}) {
    Record record = OneRow();
    record.backend = one.text;
    EXPECT_EQ(Cell(record)["backend"], one.text);
    EXPECT_NE(CsvText(record).find(",all_reduce_perf," + one.cell + ",2\n"), std::string::npos) << one.text;
  }
}

TEST(CsvReportTest, TimesOfIterations) {
  Record record = OneRow();
  record.rows[0].out_of_place.iterations = SummariseIterations({4e-6, 2e-6}, {}, 0);
  auto cell = Cell(record);
  EXPECT_EQ(cell["oop_min_us"], "2");
  EXPECT_EQ(cell["oop_max_us"], "4");
  EXPECT_EQ(cell["oop_avg_us"], "3");
  EXPECT_EQ(cell["oop_p99_us"], "4");
  EXPECT_NEAR(Number(cell["oop_cv_pct"]), 100.0 / 3, 1e-9);
  EXPECT_EQ(cell["oop_samples"], "");
  EXPECT_EQ(cell["ip_min_us"], "");
}

TEST(CsvReportTest, Spread) {
  Record record = OneRow();
  record.rows[0].in_place.spread = {
      .samples = 40, .median = 5e-6, .p99 = 7e-6, .low = 4e-6, .high = 6e-6, .settled = true};
  auto cell = Cell(record);
  EXPECT_EQ(cell["ip_samples"], "40");
  EXPECT_EQ(cell["ip_p50_us"], "5");
  EXPECT_NEAR(Number(cell["ip_p99_us"]), 7, 1e-9);
  EXPECT_EQ(cell["ip_ci95_low_us"], "4");
  EXPECT_EQ(cell["ip_ci95_high_us"], "6");
  EXPECT_EQ(cell["ip_settled"], "true");
  EXPECT_EQ(cell["ip_min_us"], "");
}

TEST(CsvReportTest, ARowThatDidNotEnd) {
  Record record = OneRow();
  record.rows[0].has_in_place = false;
  auto cell = Cell(record);
  EXPECT_EQ(cell["oop_time_us"], "0.1");
  EXPECT_EQ(cell["ip_time_us"], "");
  EXPECT_EQ(cell["program"], "all_reduce_perf");
}

}  // namespace
}  // namespace nccl_tune::bench
