// SPDX-License-Identifier: Apache-2.0
#include "bench/csv_report.h"

#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "bench/iteration_stats.h"
#include "bench/number_text.h"

namespace nccl_tune::bench {
namespace {

using Cells = std::vector<std::string>;

constexpr double kMicro = 1e6;  // per second

// Bandwidths are in GB/s. min to cv_pct are of -I; samples to settled of --adaptive, which has p50 and p99 too.
constexpr std::array<std::string_view, 16> kBlockNames = {
    "time_us", "algbw",  "busbw",    "wrong",  "min_us",  "max_us",      "avg_us",       "p50_us",
    "p95_us",  "p99_us", "stdev_us", "cv_pct", "samples", "ci95_low_us", "ci95_high_us", "settled"};

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string NumberText(double number) { return std::isnan(number) ? "nan" : ExactText(number); }

std::string Line(const Cells& cells) {
  std::string line;
  for (const std::string& cell : cells) line += (&cell == &cells.front() ? "" : ",") + Quoted(cell);
  return line + "\n";
}

Cells Names() {
  Cells names = {"size", "count", "type", "redop", "root"};
  for (const std::string_view place : {"oop_", "ip_"}) {
    for (const std::string_view name : kBlockNames) names.push_back(std::string(place).append(name));
  }
  for (const char* name : {"cpu_time", "timestamp", "program", "backend", "ranks"}) names.emplace_back(name);
  return names;
}

Cells BlockCells(const Block& block) {
  Cells cells = {NumberText(block.microseconds), NumberText(block.algorithm_bandwidth), NumberText(block.bus_bandwidth),
                 block.wrong ? NumberText(*block.wrong) : ""};
  cells.resize(kBlockNames.size());
  const auto put = [&](std::size_t at, double number) { cells[at] = NumberText(number); };
  constexpr std::size_t kMedian = 7;
  constexpr std::size_t kP99 = 9;
  if (block.spread) {
    put(kMedian, block.spread->median * kMicro);
    put(kP99, block.spread->p99 * kMicro);
    cells[12] = std::to_string(block.spread->samples);
    put(13, block.spread->low * kMicro);
    put(14, block.spread->high * kMicro);
    cells[15] = block.spread->settled ? "true" : "false";
  }
  if (block.iterations) {
    const IterationTimes& times = *block.iterations;
    std::size_t at = 4;
    for (const double time :
         {times.least, times.greatest, times.mean, times.p50, times.p95, times.p99, times.deviation}) {
      put(at++, time * kMicro);
    }
    put(at, VariationPercent(times));
  }
  return cells;
}

Cells RowCells(const Row& row, const Record& record) {
  Cells cells = {std::to_string(row.bytes), std::to_string(row.count), row.type, row.op, std::to_string(row.root)};
  const Cells first = BlockCells(row.out_of_place);
  const Cells second = row.has_in_place ? BlockCells(row.in_place) : Cells(kBlockNames.size());
  cells.insert(cells.end(), first.begin(), first.end());
  cells.insert(cells.end(), second.begin(), second.end());
  cells.insert(cells.end(), {record.options.reports_cpu_time ? "true" : "false", row.timestamp, record.program,
                             record.backend, std::to_string(record.devices.size())});
  return cells;
}

}  // namespace

std::string CsvText(const Record& record) {
  std::string text = Line(Names());
  for (const Row& row : record.rows) text += Line(RowCells(row, record));
  return text;
}

}  // namespace nccl_tune::bench
