// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "base/hash.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;

constexpr std::uint64_t kAlignment = 16;  // bytes; as in nccl-tests
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view kBlanks = " \t\v\f\r";

std::uint64_t Cut(std::uint64_t bytes) { return bytes - bytes % kAlignment; }

Error Wrong(std::string_view name, std::string what) {
  return {.code = Code::kInvalidInput, .what = std::move(what), .where = std::string(name)};
}

// Takes the next word off `line`; empty when there is none.
std::string_view NextWord(std::string_view* line) {
  line->remove_prefix(std::min(line->find_first_not_of(kBlanks), line->size()));
  const std::string_view word = line->substr(0, line->find_first_of(kBlanks));
  line->remove_prefix(word.size());
  return word;
}

// One cell, cut to 16 bytes. What strtod takes, but for infinities, NaN and hexadecimal.
base::Result<std::uint64_t> ParseCell(std::string_view word, double scale) {
  Error error{.code = Code::kInvalidInput,
              .what = "not a number",
              .seen = base::Shortened(word),
              .expected = "a number of bytes >= 0"};
  std::string_view digits = word.front() == '+' ? word.substr(1) : word;
  const bool odd = digits.find_first_not_of("0123456789.eE+-") != digits.npos || digits.starts_with('+') ||
                   (digits.size() < word.size() && digits.starts_with('-'));
  if (odd) return error;
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || code == std::errc::invalid_argument) return error;
  error.what = code == std::errc::result_out_of_range ? "number out of range" : "negative number";
  if (code != std::errc() || value < 0) return error;
  const long double bytes = static_cast<long double>(value) * static_cast<long double>(scale);
  if (bytes < 0x1p64L) return Cut(static_cast<std::uint64_t>(bytes));
  error.what = "too many bytes";
  error.expected = "less than 2^64 bytes";
  if (scale != 1.0) error.expected += " after scaling by " + std::to_string(scale);
  return error;
}

// Appends the row's cells; the error tells the column.
base::Status ParseRow(std::string_view line, std::string_view where, double scale, std::vector<std::uint64_t>* cells) {
  std::uint64_t column = 0;
  std::uint64_t sum = 0;
  for (std::string_view word = NextWord(&line); !word.empty(); word = NextWord(&line)) {
    ++column;
    auto cell = ParseCell(word, scale);
    if (cell.ok() && *cell > kMost - sum) {
      cell = Error{.code = Code::kInvalidInput,
                   .what = "too many bytes in this row",
                   .seen = base::Shortened(word),
                   .expected = "a sum less than 2^64 bytes"};
    }
    if (!cell.ok()) {
      Error error = cell.error();
      error.where = std::string(where) + ", column " + std::to_string(column);
      return error;
    }
    sum += *cell;
    cells->push_back(*cell);
  }
  return base::Ok();
}

base::Status CheckColumns(std::string_view name, std::uint64_t side, const std::vector<std::uint64_t>& cells) {
  std::vector<std::uint64_t> sums(side);
  for (std::uint64_t cell = 0; cell < cells.size(); ++cell) {
    std::uint64_t& sum = sums[cell % side];
    if (cells[cell] <= kMost - sum) {
      sum += cells[cell];
      continue;
    }
    return Wrong(name, "column " + std::to_string(cell % side + 1) + " has 2^64 bytes or more");
  }
  return base::Ok();
}

}  // namespace

base::Result<Traffic> Traffic::FromMatrix(std::string_view text, std::string_view name, double scale) {
  if (!(scale >= 0 && scale <= std::numeric_limits<double>::max())) {
    Error error = Wrong(name, "cannot be scaled");
    error.seen = std::to_string(scale);
    error.expected = "a finite scale >= 0";
    return error;
  }
  Traffic traffic;
  traffic.scale_ = scale;
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::uint64_t before = traffic.cells_.size();
    const std::string where = std::string(name) + ", row " + std::to_string(rows + 1);
    NCCL_TUNE_RETURN_IF_ERROR(ParseRow(line, where, scale, &traffic.cells_));
    const std::uint64_t found = traffic.cells_.size() - before;
    if (found == 0) continue;
    if (rows++ == 0) columns = found;
    if (found != columns) {
      Error error = Wrong(where, "another number of columns than in the first row");
      error.seen = std::to_string(found);
      error.expected = std::to_string(columns);
      return error;
    }
  }
  if (rows == 0) return Wrong(name, "no traffic matrix: the file is empty");
  if (rows != columns) {
    Error error = Wrong(name, "the traffic matrix is not square");
    error.seen = std::to_string(rows) + " rows of " + std::to_string(columns) + " columns";
    error.expected = "as many rows as columns";
    return error;
  }
  traffic.side_ = rows;
  NCCL_TUNE_RETURN_IF_ERROR(CheckColumns(name, rows, traffic.cells_));
  return traffic;
}

// The generated pattern's order of operations is nccl-tests', so that the doubles come out the same.
std::uint64_t Traffic::Bytes(std::uint64_t from, std::uint64_t to, std::uint64_t ranks, std::uint64_t total) const {
  if (is_matrix()) return cells_[from * side_ + to];
  if (ranks == 1) return Cut(total);
  const std::uint64_t distance = (to + ranks - from) % ranks;
  const std::uint64_t sum_of_distances = ranks * (ranks - 1) / 2;
  const double uniform = static_cast<double>(total) / static_cast<double>(ranks);
  const double weighted =
      static_cast<double>(distance) * static_cast<double>(total) / static_cast<double>(sum_of_distances);
  return Cut(static_cast<std::uint64_t>((1.0 - spread_) * uniform + spread_ * weighted));
}

Traffic::Most Traffic::MostElements(std::uint64_t type_bytes, std::uint64_t ranks, std::uint64_t total) const {
  Most most;
  if (!is_matrix()) {  // the same for every rank
    for (std::uint64_t to = 0; to < ranks; ++to) most.sent += Bytes(0, to, ranks, total) / type_bytes;
    most.received = most.sent;
    return most;
  }
  std::vector<std::uint64_t> received(ranks);
  for (std::uint64_t from = 0; from < ranks; ++from) {
    std::uint64_t sent = 0;
    for (std::uint64_t to = 0; to < ranks; ++to) {
      const std::uint64_t elements = Bytes(from, to, ranks, total) / type_bytes;
      sent += elements;
      received[to] += elements;
    }
    most.sent = std::max(most.sent, sent);
  }
  for (const std::uint64_t one : received) most.received = std::max(most.received, one);
  return most;
}

std::uint64_t Traffic::digest() const {
  base::Hash hash;
  hash.Add(std::bit_cast<std::uint64_t>(spread_)).Add(side_);
  for (const std::uint64_t cell : cells_) hash.Add(cell);
  return hash.value();
}

}  // namespace nccl_tune::bench
