// SPDX-License-Identifier: Apache-2.0
#include "bench/pair_matrix.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "bench/number_text.h"

namespace nccl_tune::bench {
namespace {

constexpr std::uint64_t kMostColumns = 32;
constexpr std::uint64_t kWorstNodes = 8;
constexpr std::uint64_t kWorstPairs = 4;
constexpr std::size_t kCell = 6;  // characters, the mark included
constexpr double kUnmeasured = -1;

std::optional<double> MedianOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::vector<double> RowOf(const PairMatrix& matrix, std::uint64_t node) {
  std::vector<double> row;
  for (std::uint64_t other = 0; other < matrix.nodes(); ++other) {
    if (const auto value = matrix.At(node, other)) row.push_back(*value);
  }
  return row;
}

bool IsSlow(double busbw, const PairFindings& findings) { return busbw < findings.tolerance * findings.reference; }

// Per node, how many of its pairs with nodes that are not named are slow.
class Counts {
 public:
  Counts(const PairMatrix& matrix, const PairFindings& findings)
      : matrix_(matrix), findings_(findings), named_(matrix.nodes()), slow_(matrix.nodes()), all_(matrix.nodes()) {
    for (std::uint64_t a = 0; a < matrix.nodes(); ++a) {
      for (std::uint64_t b = 0; b < matrix.nodes(); ++b) {
        const auto value = matrix.At(a, b);
        if (!value) continue;
        ++all_[a];
        if (IsSlow(*value, findings)) ++slow_[a];
      }
    }
  }

  // The node with the largest share of slow pairs, when that is more than half.
  std::optional<std::uint64_t> Worst() const {
    std::optional<std::uint64_t> worst;
    for (std::uint64_t node = 0; node < named_.size(); ++node) {
      if (named_[node] || 2 * slow_[node] <= all_[node]) continue;
      if (!worst || slow_[node] * all_[*worst] > slow_[*worst] * all_[node]) worst = node;
    }
    return worst;
  }

  void Name(std::uint64_t node) {
    named_[node] = true;
    for (std::uint64_t other = 0; other < named_.size(); ++other) {
      const auto value = matrix_.At(node, other);
      if (!value) continue;
      --all_[other];
      if (IsSlow(*value, findings_)) --slow_[other];
    }
  }

  bool named(std::uint64_t node) const { return named_[node]; }
  std::uint64_t slow(std::uint64_t node) const { return slow_[node]; }
  std::uint64_t all(std::uint64_t node) const { return all_[node]; }

 private:
  const PairMatrix& matrix_;
  const PairFindings& findings_;
  std::vector<bool> named_;
  std::vector<std::uint64_t> slow_;
  std::vector<std::uint64_t> all_;
};

// Three or four digits: "0.05", "9.99", "12.3", "381".
std::string Short(double value) {
  int decimals = 0;
  if (value < 99.95) decimals = 1;
  if (value < 9.995) decimals = 2;
  std::string text(32, '\0');
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals);
  if (error != std::errc()) return "huge";
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

std::string Cell(const std::optional<double>& value, const PairFindings& findings) {
  if (!value) return Right("- ", kCell);
  return Right(Short(*value) + (IsSlow(*value, findings) ? "*" : " "), kCell);
}

std::string Left(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

std::vector<std::string> WholeMatrix(const PairMatrix& matrix, const PairFindings& findings,
                                     const std::vector<std::string>& names) {
  std::size_t width = 4;  // of "GB/s"
  for (const std::string& name : names) width = std::max(width, name.size());
  std::string line = Right("#", 3) + " " + Left("GB/s", width);
  for (std::uint64_t node = 0; node < matrix.nodes(); ++node) line += Right(std::to_string(node) + " ", kCell);
  std::vector<std::string> lines = {line + "  median"};
  for (std::uint64_t node = 0; node < matrix.nodes(); ++node) {
    line = Right(std::to_string(node), 3) + " " + Left(names[node], width);
    for (std::uint64_t other = 0; other < matrix.nodes(); ++other) {
      line += node == other ? Right(". ", kCell) : Cell(matrix.At(node, other), findings);
    }
    const auto& median = findings.medians[node];
    lines.push_back(line + Right(median ? Short(*median) : "-", 8));
  }
  return lines;
}

std::string WorstLine(const PairMatrix& matrix, const PairFindings& findings, const std::vector<std::string>& names,
                      std::uint64_t node) {
  std::vector<std::pair<double, std::uint64_t>> others;
  for (std::uint64_t other = 0; other < matrix.nodes(); ++other) {
    if (const auto value = matrix.At(node, other)) others.emplace_back(*value, other);
  }
  std::sort(others.begin(), others.end());
  const auto slow =
      std::count_if(others.begin(), others.end(), [&](const auto& one) { return IsSlow(one.first, findings); });
  std::string line = names[node] + ": median " + Short(*findings.medians[node]) + " GB/s, slow with " +
                     std::to_string(slow) + " of " + std::to_string(others.size()) + "; least";
  for (std::size_t i = 0; i < std::min<std::size_t>(kWorstPairs, others.size()); ++i) {
    line += (i == 0 ? " " : ", ") + names[others[i].second] + " " + Short(others[i].first);
  }
  return line;
}

std::vector<std::string> WorstRows(const PairMatrix& matrix, const PairFindings& findings,
                                   const std::vector<std::string>& names) {
  std::vector<std::uint64_t> order;
  for (std::uint64_t node = 0; node < matrix.nodes(); ++node) {
    if (findings.medians[node]) order.push_back(node);
  }
  std::vector<double> least(matrix.nodes());
  for (const std::uint64_t node : order) {
    const auto row = RowOf(matrix, node);
    least[node] = *std::min_element(row.begin(), row.end());
  }
  // A bad link hardly moves a median: among equally good nodes the least pair decides.
  const auto key = [&](std::uint64_t node) {
    const double median = *findings.medians[node];
    return std::pair(IsSlow(median, findings) ? median : findings.reference, least[node]);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) { return key(a) < key(b); });
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min<std::size_t>(kWorstNodes, order.size()); ++i) {
    lines.push_back(WorstLine(matrix, findings, names, order[i]));
  }
  return lines;
}

}  // namespace

PairMatrix::PairMatrix(std::uint64_t nodes)
    : nodes_(nodes), cells_(nodes < 2 ? 0 : nodes * (nodes - 1) / 2, kUnmeasured) {}

void PairMatrix::Set(std::uint64_t a, std::uint64_t b, double busbw) {
  const std::uint64_t high = std::max(a, b);
  cells_[high * (high - 1) / 2 + std::min(a, b)] = busbw > 0 ? busbw : 0;
}

std::optional<double> PairMatrix::At(std::uint64_t a, std::uint64_t b) const {
  if (a == b) return std::nullopt;
  const std::uint64_t high = std::max(a, b);
  const double value = cells_[high * (high - 1) / 2 + std::min(a, b)];
  return value < 0 ? std::nullopt : std::optional(value);
}

PairFindings AnalysePairs(const PairMatrix& matrix, double tolerance) {
  PairFindings findings{.tolerance = tolerance};
  std::vector<double> values;
  for (std::uint64_t a = 0; a < matrix.nodes(); ++a) {
    for (std::uint64_t b = a + 1; b < matrix.nodes(); ++b) {
      if (const auto value = matrix.At(a, b)) values.push_back(*value);
    }
    findings.medians.push_back(MedianOf(RowOf(matrix, a)));
  }
  findings.reference = GoodValue(std::move(values), tolerance);

  Counts counts(matrix, findings);
  for (auto worst = counts.Worst(); worst; worst = counts.Worst()) {
    findings.nodes.push_back({.node = *worst,
                              .median = *findings.medians[*worst],
                              .slow_pairs = counts.slow(*worst),
                              .pairs = counts.all(*worst)});
    counts.Name(*worst);
  }
  std::sort(findings.nodes.begin(), findings.nodes.end(),
            [](const auto& one, const auto& other) { return one.node < other.node; });
  for (std::uint64_t a = 0; a < matrix.nodes(); ++a) {
    for (std::uint64_t b = a + 1; b < matrix.nodes(); ++b) {
      const auto value = matrix.At(a, b);
      if (!value || !IsSlow(*value, findings) || counts.named(a) || counts.named(b)) continue;
      findings.links.push_back({.pair = {.first = a, .second = b}, .busbw = *value});
    }
  }
  return findings;
}

std::vector<std::string> MatrixLines(const PairMatrix& matrix, const PairFindings& findings,
                                     const std::vector<std::string>& names) {
  return matrix.nodes() <= kMostColumns ? WholeMatrix(matrix, findings, names) : WorstRows(matrix, findings, names);
}

}  // namespace nccl_tune::bench
