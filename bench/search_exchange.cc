// SPDX-License-Identifier: Apache-2.0
#include "bench/search_exchange.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "base/parse_number.h"
#include "bench/number_text.h"

namespace nccl_tune::bench {
namespace {

using base::Error;
using base::Result;

constexpr int kDecimals = 9;  // of GB/s: bytes
constexpr std::string_view kNone = "-";
constexpr std::string_view kRight = "right";
constexpr std::string_view kWrong = "wrong";

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

Error Broken(std::string_view what, const std::string& text) {
  return Error{.what = std::string(what), .where = "what the processes tell each other", .seen = base::Shortened(text)};
}

}  // namespace

Assignment Assign(const std::vector<NodeGroup>& groups, const std::vector<std::uint64_t>& node_of) {
  std::map<std::uint64_t, std::uint64_t> group_of;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const std::uint64_t node : groups[group]) group_of[node] = group;
  }
  Assignment assignment;
  for (const std::uint64_t node : node_of) {
    const auto found = group_of.find(node);
    assignment.push_back(found == group_of.end() ? std::nullopt : std::optional(found->second));
  }
  return assignment;
}

std::string AssignmentToText(const Assignment& assignment) {
  std::string text;
  for (const auto& group : assignment) {
    if (!text.empty()) text += ' ';
    text += group ? std::to_string(*group) : std::string(kNone);
  }
  return text;
}

Result<Assignment> AssignmentFromText(const std::string& text, std::uint64_t processes) {
  Assignment assignment;
  for (const std::string& word : Words(text)) {
    if (word == kNone) {
      assignment.emplace_back();
      continue;
    }
    const auto group = base::ParseInteger<std::uint64_t>(word);
    if (!group.ok()) return Broken("not a group", text);
    assignment.emplace_back(*group);
  }
  if (assignment.size() != processes) return Broken("not a group for each process", text);
  return assignment;
}

std::string MeasurementToText(const Measurement& measurement) {
  std::string text(measurement.is_right ? kRight : kWrong);
  for (const double busbw : measurement.busbw) text += " " + FixedText(std::isfinite(busbw) ? busbw : 0, kDecimals);
  return text;
}

Result<Measurement> MeasurementFromText(const std::string& text) {
  const std::vector<std::string> words = Words(text);
  if (words.empty() || (words[0] != kRight && words[0] != kWrong)) return Broken("not a measurement", text);
  Measurement measurement{.is_right = words[0] == kRight};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto busbw = base::ParseDecimal(words[i]);
    if (!busbw.ok()) return Broken("not a measurement", text);
    measurement.busbw.push_back(*busbw);
  }
  return measurement;
}

double GroupBusbw(const std::vector<Measurement>& members) {
  if (members.empty()) return 0;
  std::vector<double> slowest = members[0].busbw;
  for (const Measurement& one : members) {
    if (one.busbw.size() != slowest.size()) return 0;
    for (std::size_t size = 0; size < slowest.size(); ++size) {
      slowest[size] = one.busbw[size] < slowest[size] ? one.busbw[size] : slowest[size];
    }
  }
  double best = 0;
  for (const double busbw : slowest) best = std::isfinite(busbw) && busbw > best ? busbw : best;
  return best;
}

}  // namespace nccl_tune::bench
