// SPDX-License-Identifier: Apache-2.0
//
// nccl-tests' stdout (2.19.6), byte by byte, from plain values. Tools read these lines by position and by word: nothing
// may be added to them (docs/formats.md). Pure.
//
// In the order of printing: WritingJsonText, HeaderText, DeviceLines of each process, MemoryCutText, ColumnText, then
// per row RowText, twice BlockText, RowEndText; at last FooterText, MemoryText, EndText.
#ifndef NCCL_TUNE_BENCH_TABLE_H_
#define NCCL_TUNE_BENCH_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/options.h"
#include "bench/results.h"

namespace nccl_tune::bench {

// Before all others, when JSON was asked for: it goes to `path`, or it cannot be written there.
std::string WritingJsonText(std::string_view path);
std::string SkippingJsonText(std::string_view path);

// All lines up to "# Using devices". The second is ours: name, version, backend. Of the backend's label only the first
// word is kept when the rest could be taken for something else by a program that reads the table.
std::string HeaderText(const Record& record);

// "0000:9b:00": domain, bus and device of its PCI address.
std::string AddressText(const Device& device);

std::string DeviceLine(const Device& device);

// The lines of one process, cut at 2047 bytes as nccl-tests does it.
std::string DeviceLines(const std::vector<Device>& devices);

// "# Reducing maxBytes ..."; nothing when it was not cut.
std::string MemoryCutText(std::optional<std::uint64_t> max_bytes);

// The three lines above the rows: -C, -S and -I change them.
std::string ColumnText(const Options& options);

// The first part of a row, without a line end.
std::string RowText(const Row& row);

// One block of a row, with the four columns of -I when it has times of iterations.
std::string BlockText(const Block& block);

// What closes a row: with -S the time.
std::string RowEndText(const Row& row, const Options& options);

// Bytes that one rank of an alltoallv sends and receives.
struct RankTraffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

struct TrafficSummary {
  bool is_matrix = false;
  std::uint64_t side = 0;         // of the matrix
  double scale = 1;               // of the matrix
  double spread = 1;              // of the generated pattern
  std::uint64_t total_bytes = 0;  // of the generated pattern: what a rank sends
  double seconds = 0;             // of one call
  std::vector<RankTraffic> ranks{};
};

// What NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY asks for. nccl-tests prints it before each block, in the middle of the row.
std::string TrafficText(const TrafficSummary& summary);

// Up to "# Collective test concluded".
std::string FooterText(const Record& record);

// Bytes of GPU memory, for -M: the most over all GPUs, and their sum.
struct MemoryAmounts {
  std::int64_t initialization = 0;
  std::int64_t user_allocated = 0;
  std::int64_t collective = 0;
};
std::string MemoryText(const MemoryAmounts& amounts);

// The last two lines. `error` is NCCL's last one, empty for none; its control characters become blanks.
std::string EndText(std::string_view error);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_TABLE_H_
