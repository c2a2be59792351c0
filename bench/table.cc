// SPDX-License-Identifier: Apache-2.0
#include "bench/table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/result.h"
#include "bench/iteration_stats.h"
#include "bench/number_text.h"

namespace nccl_tune::bench {
namespace {

constexpr double kMicro = 1e6;  // per second

std::string Left(std::string_view text, std::size_t width) {
  std::string padded(text);
  if (padded.size() < width) padded.resize(width, ' ');
  return padded;
}

// Lower-case hexadecimal with leading zeros.
std::string Hex(unsigned value, std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (; value != 0; value >>= 4U) text.insert(text.begin(), kDigits[value & 15U]);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

// Words by which programs find lines of the table; a path in the label could contain any.
bool LooksLikeTable(std::string_view text) {
  constexpr std::array<std::string_view, 8> kWords = {
      "bandwidth", "FAILED", "Test failure", "Test NCCL failure", "out-of-place", "Out of bounds", "Rank", " on "};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string OwnLine(const Record& record) {
  const std::string label = base::Printable(record.backend);
  const std::string shown = LooksLikeTable(label) ? label.substr(0, label.find(' ')) : label;
  return "# " + record.own_version + " backend " + shown + "\n";
}

std::string_view BlockingText(Blocking blocking) {
  switch (blocking) {
    case Blocking::kWaitAndBarrier:
      return "# Blocking Enabled: wait and barrier after each inner iteration (-m) \n";
    case Blocking::kWait:
      return "# Blocking Enabled: wait after each inner iteration (-m), no barrier \n";
    case Blocking::kOuter:
      return "# Blocking Enabled: wait and barrier after each outer iteration (-n); time excludes barrier \n";
    case Blocking::kNo:
      break;
  }
  return "";
}

std::string ModeLines(const Options& options) {
  std::string text(BlockingText(options.blocking));
  if (options.times_iterations) {
    text += "# Per-Iteration Report: CUDA event timing; i_* uses max over process rows";
    if (options.skipped_iterations != 0) {
      text += "; summary skips first " + std::to_string(options.skipped_iterations) + " iterations";
    }
    text += " \n";
  }
  if (options.parallel_init) text += "# Parallel Init Enabled: threads call into NcclInitRank concurrently \n";
  return text;
}

// Names of one block's columns, each with its width.
struct Column {
  std::string_view text{};
  std::size_t width = 0;
};

std::string ColumnLine(const std::array<std::string_view, 5>& front, const std::vector<Column>& block,
                       std::string_view time_stamp) {
  constexpr std::array<std::size_t, 5> kWidths = {10, 12, 8, 6, 6};
  std::string line = "# ";
  for (std::size_t i = 0; i < front.size(); ++i) line += (i == 0 ? "" : "  ") + Right(front[i], kWidths[i]);
  for (int twice = 0; twice < 2; ++twice) {
    for (const Column& column : block) line += "  " + Right(column.text, column.width);
  }
  return line + " " + std::string(time_stamp) + "\n";
}

std::string AmountText(std::int64_t bytes) {
  auto amount = static_cast<double>(bytes);
  const std::array<std::string_view, 4> units = {" B", " KB", " MB", " GB"};
  constexpr double kStep = 1024;
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && std::fabs(amount) >= kStep; ++unit) amount /= kStep;
  int decimals = 0;
  if (std::fabs(amount) < 100) decimals = 1;
  if (std::fabs(amount) < 10) decimals = 2;
  return FixedText(amount, decimals) + std::string(units[unit]);
}

}  // namespace

std::string WritingJsonText(std::string_view path) { return "# Writing JSON output to " + std::string(path) + "\n"; }

std::string SkippingJsonText(std::string_view path) {
  return "# skipping json output; " + std::string(path) + " not accessible\n";
}

std::string HeaderText(const Record& record) {
  const Options& options = record.options;
  const Sweep& sweep = options.sweep;
  const bool by_factor = sweep.factor > 1;
  std::string text = "# nccl-tests version 2.19.6 nccl-headers=" + std::to_string(record.headers_code) +
                     " nccl-library=" + std::to_string(record.library_code) + "\n";
  text += OwnLine(record);
  text += "# Collective test starting: " + record.program + "\n";
  text += "# nThread " + std::to_string(options.threads) + " nGpus " + std::to_string(options.gpus) + " minBytes " +
          std::to_string(sweep.min_bytes) + " maxBytes " + std::to_string(sweep.max_bytes) +
          " step: " + std::to_string(by_factor ? sweep.factor : sweep.step_bytes) +
          (by_factor ? "(factor)" : "(bytes)") + " warmup iters: " + std::to_string(options.warmup) +
          " iters: " + std::to_string(options.iterations) + " agg iters: " + std::to_string(options.aggregated) +
          " validation: " + std::to_string(options.checks) + " graph: " + std::to_string(options.graph_launches) +
          " unalign: " + std::to_string(options.unaligned) + "\n";
  return text + ModeLines(options) + "#\n# Using devices\n";
}

std::string AddressText(const Device& device) {
  return Hex(device.domain, 4) + ":" + Hex(device.bus, 2) + ":" + Hex(device.slot, 2);
}

std::string DeviceLine(const Device& device) {
  return "#  Rank " + Right(std::to_string(device.rank), 2) + " Group " + Right(std::to_string(device.group), 2) +
         " Pid " + Right(std::to_string(device.process_id), 6) + " on " + Right(device.host, 10) + " device " +
         Right(std::to_string(device.index), 2) + " [" + AddressText(device) + "] " + device.name + "\n";
}

std::string DeviceLines(const std::vector<Device>& devices) {
  constexpr std::size_t kMost = 2047;
  constexpr std::string_view kCut = "...\n";
  std::string text;
  for (const Device& device : devices) {
    text += DeviceLine(device);
    if (text.size() > kMost) return text.substr(0, kMost - kCut.size()).append(kCut);
  }
  return text;
}

std::string MemoryCutText(std::optional<std::uint64_t> max_bytes) {
  if (!max_bytes) return "";
  return "#\n# Reducing maxBytes to " + std::to_string(*max_bytes) + " due to memory limitation\n";
}

std::string ColumnText(const Options& options) {
  std::vector<Column> names = {
      {options.reports_cpu_time ? "cputime" : "time", 7}, {"algbw", 6}, {"busbw", 6}, {"#wrong", 6}};
  std::vector<Column> units = {{"(us)", 7}, {"(GB/s)", 6}, {"(GB/s)", 6}, {"", 6}};
  std::string band = "           out-of-place                       in-place          \n";
  if (options.times_iterations) {
    for (const std::string_view name : {"i_min", "i_max", "i_p99", "i_cv%"}) names.push_back({name, 7});
    for (const std::string_view unit : {"(us)", "(us)", "(us)", "(%)"}) units.push_back({unit, 7});
    band = "              out-of-place (+ per-iteration)                                in-place (+ per-iteration)\n";
  }
  constexpr std::size_t kFront = 50;      // the columns up to root, and the blanks between them
  constexpr std::size_t kTimeStamp = 19;  // its format stands where the others have their unit
  const bool stamps = options.reports_timestamps;
  return "#\n# " + Right("", kFront) + band +
         ColumnLine({"size", "count", "type", "redop", "root"}, names, stamps ? Right("timestamp", kTimeStamp) : "") +
         ColumnLine({"(B)", "(elements)", "", "", ""}, units, stamps ? Right("%Y-%m-%d %H:%M:%S", kTimeStamp) : "");
}

std::string RowText(const Row& row) {
  return Right(std::to_string(row.bytes), 12) + "  " + Right(std::to_string(row.count), 12) + "  " +
         Right(row.type, 8) + "  " + Right(row.op, 6) + "  " + Right(std::to_string(row.root), 6);
}

std::string BlockText(const Block& block) {
  std::string text = "  " + Right(TimeText(block.microseconds), 7) + "  " +
                     Right(BandwidthText(block.algorithm_bandwidth), 6) + "  " +
                     Right(BandwidthText(block.bus_bandwidth), 6) +
                     (block.wrong ? "  " + Right(ShortText(*block.wrong), 6) : "    N/A");
  if (!block.iterations) return text;
  const IterationTimes& times = *block.iterations;
  for (const double number :
       {times.least * kMicro, times.greatest * kMicro, times.p99 * kMicro, VariationPercent(times)}) {
    text += "  " + Right(TimeText(number), 7);
  }
  return text;
}

std::string RowEndText(const Row& row, const Options& options) {
  return (options.reports_timestamps ? Right(row.timestamp, 21) : "") + "\n";
}

std::string TrafficText(const TrafficSummary& summary) {
  const auto count = static_cast<double>(summary.ranks.size());
  const std::string ranks = " nranks=" + std::to_string(summary.ranks.size());
  std::string text = "# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=";
  if (summary.is_matrix) {
    text += "matrix" + ranks + " matrix_dim=" + std::to_string(summary.side) + " scale=" + FixedText(summary.scale, 3);
  } else {
    text += "generated" + ranks + " total_bytes=" + std::to_string(summary.total_bytes) +
            " spread=" + FixedText(summary.spread, 3);
  }
  text += " time_usec=" + FixedText(summary.seconds * kMicro, 2) + "\n";
  for (std::size_t rank = 0; rank < summary.ranks.size(); ++rank) {
    const RankTraffic& one = summary.ranks[rank];
    const double bandwidth = static_cast<double>(std::max(one.sent, one.received)) / 1e9 / summary.seconds;
    text += "#   rank=" + std::to_string(rank) + " send_bytes=" + std::to_string(one.sent) +
            " recv_bytes=" + std::to_string(one.received) + " alg_bw=" + FixedText(bandwidth, 2) +
            " bus_bw=" + FixedText(bandwidth * ((count - 1) / count), 2) + "\n";
  }
  return text;
}

std::string FooterText(const Record& record) {
  std::string text = "# " + Left("Out of bounds values", 20) + " : " + std::to_string(record.wrong) +
                     (record.wrong == 0 ? " OK\n" : " FAILED\n");
  text += "# " + Left("Avg bus bandwidth", 20) + " : " + ShortText(record.average_bus_bandwidth) + " ";
  if (record.enough) text += *record.enough ? "OK" : "FAILED";
  return text + "\n#\n# Collective test concluded: " + record.program + "\n";
}

std::string MemoryText(const MemoryAmounts& amounts) {
  // Unsigned: the sum of what a driver says must not overflow.
  const auto total = static_cast<std::uint64_t>(amounts.initialization) +
                     static_cast<std::uint64_t>(amounts.user_allocated) +
                     static_cast<std::uint64_t>(amounts.collective);
  return "# " + Left("GPU memory usage", 20) + " : Initialization " + AmountText(amounts.initialization) +
         " | User-Allocated " + AmountText(amounts.user_allocated) + " | Collective " + AmountText(amounts.collective) +
         " | Total  " + AmountText(static_cast<std::int64_t>(total)) + "\n";
}

std::string EndText(std::string_view error) {
  std::string line(error.empty() ? "" : "# error: ");
  line += error;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return "#\n" + line + "\n";
}

}  // namespace nccl_tune::bench
