// SPDX-License-Identifier: Apache-2.0
//
// nccl-tests' stdout (2.19.6), byte by byte, from plain values. Tools read these lines by position and by word: nothing
// may be added to them. Pure.
#ifndef NCCL_TUNE_BENCH_TABLE_H_
#define NCCL_TUNE_BENCH_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sizes.h"

namespace nccl_tune::bench {

struct HeaderFacts {
  int headers_code = 0;  // NCCL version at compile time and at run time, 0 without NCCL
  int library_code = 0;
  std::string own_line{};  // one more comment: our name, version and backend
  std::string program{};   // "all_reduce_perf"
  int gpus = 1;
  Sweep sweep{};  // as asked for
  int warmup = 0;
  int iterations = 0;
  int checks = 0;
};

// All lines up to "# Using devices".
std::string HeaderText(const HeaderFacts& facts);

struct Device {
  std::uint64_t rank = 0;
  int process_id = 0;
  std::string host{};
  int index = 0;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  std::string name{};
};

std::string DeviceLine(const Device& device);

// "# Reducing maxBytes ..."; nothing when it was not cut.
std::string MemoryCutText(std::optional<std::uint64_t> max_bytes);

// The three lines above the rows.
std::string ColumnText();

struct RowFacts {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::string_view type{};
  std::string_view op{};
  int root = -1;
};

// The first part of a row, without a line end.
std::string RowText(const RowFacts& row);

// Result of one size, out of place or in place.
struct Block {
  double microseconds = 0;
  double algorithm_bandwidth = 0;  // GB/s
  double bus_bandwidth = 0;        // GB/s
  std::optional<double> wrong{};   // elements over all ranks; nothing without a check
};

std::string BlockText(const Block& block);

struct FooterFacts {
  std::uint64_t wrong = 0;
  double average_bandwidth = 0;  // GB/s
  std::optional<bool> enough{};  // whether it reaches the wanted one; nothing when none is wanted
  std::string program{};
};

std::string FooterText(const FooterFacts& facts);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_TABLE_H_
