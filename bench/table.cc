// SPDX-License-Identifier: Apache-2.0
#include "bench/table.h"

#include <array>
#include <charconv>

#include "bench/number_text.h"

namespace nccl_tune::bench {
namespace {

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

// A column: "%width s" and two blanks.
std::string Columns(const std::array<std::string_view, 13>& names) {
  constexpr std::array<std::size_t, 13> kWidths = {10, 12, 8, 6, 6, 7, 6, 6, 6, 7, 6, 6, 6};
  std::string line = "#";
  for (std::size_t i = 0; i < names.size(); ++i) line += (i == 0 ? " " : "  ") + Right(names[i], kWidths[i]);
  return line + " \n";
}

}  // namespace

std::string HeaderText(const HeaderFacts& facts) {
  const bool by_factor = facts.sweep.factor > 1;
  const std::uint64_t step = by_factor ? facts.sweep.factor : facts.sweep.step_bytes;
  std::string text = "# nccl-tests version 2.19.6 nccl-headers=" + std::to_string(facts.headers_code) +
                     " nccl-library=" + std::to_string(facts.library_code) + "\n";
  text += "# " + facts.own_line + "\n";
  text += "# Collective test starting: " + facts.program + "\n";
  text += "# nThread 1 nGpus " + std::to_string(facts.gpus) + " minBytes " + std::to_string(facts.sweep.min_bytes) +
          " maxBytes " + std::to_string(facts.sweep.max_bytes) + " step: " + std::to_string(step) +
          (by_factor ? "(factor)" : "(bytes)") + " warmup iters: " + std::to_string(facts.warmup) +
          " iters: " + std::to_string(facts.iterations) + " agg iters: 1 validation: " + std::to_string(facts.checks) +
          " graph: 0 unalign: 0\n";
  return text + "#\n# Using devices\n";
}

std::string DeviceLine(const Device& device) {
  return "#  Rank " + Right(std::to_string(device.rank), 2) + " Group  0 Pid " +
         Right(std::to_string(device.process_id), 6) + " on " + Right(device.host, 10) + " device " +
         Right(std::to_string(device.index), 2) + " [" + Hex(device.domain, 4) + ":" + Hex(device.bus, 2) + ":" +
         Hex(device.slot, 2) + "] " + device.name + "\n";
}

std::string MemoryCutText(std::optional<std::uint64_t> max_bytes) {
  if (!max_bytes) return "";
  return "#\n# Reducing maxBytes to " + std::to_string(*max_bytes) + " due to memory limitation\n";
}

std::string ColumnText() {
  std::string band = "# " + Right("", 10) + "  " + Right("", 12) + "  " + Right("", 8) + "  " + Right("", 6) + "  " +
                     Right("", 6) + "           out-of-place                       in-place          \n";
  return "#\n" + band +
         Columns({"size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw",
                  "busbw", "#wrong"}) +
         Columns({"(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", ""});
}

std::string RowText(const RowFacts& row) {
  return Right(std::to_string(row.bytes), 12) + "  " + Right(std::to_string(row.count), 12) + "  " +
         Right(row.type, 8) + "  " + Right(row.op, 6) + "  " + Right(std::to_string(row.root), 6);
}

std::string BlockText(const Block& block) {
  const std::string numbers = "  " + Right(TimeText(block.microseconds), 7) + "  " +
                              Right(BandwidthText(block.algorithm_bandwidth), 6) + "  " +
                              Right(BandwidthText(block.bus_bandwidth), 6);
  return numbers + (block.wrong ? "  " + Right(ShortText(*block.wrong), 6) : "    N/A");
}

std::string FooterText(const FooterFacts& facts) {
  std::string text = "# " + Left("Out of bounds values", 20) + " : " + std::to_string(facts.wrong) +
                     (facts.wrong == 0 ? " OK\n" : " FAILED\n");
  text += "# " + Left("Avg bus bandwidth", 20) + " : " + ShortText(facts.average_bandwidth) + " ";
  if (facts.enough) text += *facts.enough ? "OK" : "FAILED";
  return text + "\n#\n# Collective test concluded: " + facts.program + "\n#\n\n";
}

}  // namespace nccl_tune::bench
