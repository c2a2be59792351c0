// SPDX-License-Identifier: Apache-2.0
#include "core/policy/host_list.h"

#include <algorithm>
#include <utility>

#include "base/parse_number.h"

namespace nccl_tune::policy {

using base::Error;
using base::Result;

namespace {

constexpr std::size_t kMostDigits = 9;
constexpr int kMostBrackets = 4;
constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

Error Bad(std::string what, std::string_view seen, std::string expected) {
  return {.code = base::Code::kInvalidInput,
          .what = std::move(what),
          .seen = std::string(seen),
          .expected = std::move(expected)};
}

Result<std::uint32_t> ParseHostNumber(std::string_view text, std::string_view range) {
  const auto number = base::ParseInteger<std::uint32_t>(text);
  if (text.size() <= kMostDigits && number.ok()) return *number;
  return Bad("not a range of host numbers", range, "a form such as 01-16 or 20, of at most 9 digits");
}

Result<HostRange> ParseRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  NCCL_TUNE_ASSIGN_OR_RETURN(first, ParseHostNumber(low, text));
  if (dash == std::string_view::npos) return HostRange{.low = first, .high = first, .width = low.size()};
  const std::string_view high = text.substr(dash + 1);
  NCCL_TUNE_ASSIGN_OR_RETURN(last, ParseHostNumber(high, text));
  if (last < first) return Bad("range from the larger to the smaller", text, "the smaller number first");
  if (high.size() < low.size() || (high[0] == '0' && high.size() > low.size())) {
    return Bad("range whose ends are filled up differently", text, "as many digits in both, such as 01-16");
  }
  return HostRange{.low = first, .high = last, .width = low.size()};
}

bool InRange(const HostRange& range, std::string_view digits, std::uint32_t number) {
  if (number < range.low || number > range.high || digits.size() < range.width) return false;
  // Slurm fills up to the width and no further: 007 is no number of [01-16].
  return digits.size() == range.width || digits[0] != '0';
}

}  // namespace

bool HostList::Matches(const Pattern& pattern, std::size_t part, std::string_view rest) {
  if (part == pattern.size()) return rest.empty();
  if (const auto* text = std::get_if<std::string>(&pattern[part])) {
    return rest.starts_with(*text) && Matches(pattern, part + 1, rest.substr(text->size()));
  }
  const auto& ranges = std::get<std::vector<HostRange>>(pattern[part]);
  for (std::size_t size = 1; size <= kMostDigits && size <= rest.size(); ++size) {
    const std::string_view digits = rest.substr(0, size);
    const auto number = base::ParseInteger<std::uint32_t>(digits);
    if (!number.ok()) return false;
    const bool in = std::any_of(ranges.begin(), ranges.end(),
                                [&](const HostRange& range) { return InRange(range, digits, *number); });
    if (in && Matches(pattern, part + 1, rest.substr(size))) return true;
  }
  return false;
}

bool HostList::Contains(std::string_view host) const {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const Pattern& pattern) { return Matches(pattern, 0, host); });
}

// Takes the text from the left, one entry at a time.
class HostListParser {
 public:
  explicit HostListParser(std::string_view text) : rest_(text) {}

  Result<HostList> Parse() {
    HostList out;
    out.text_ = rest_;
    while (true) {
      NCCL_TUNE_ASSIGN_OR_RETURN(pattern, TakeEntry());
      out.patterns_.push_back(std::move(pattern));
      if (rest_.empty()) return out;
      rest_.remove_prefix(1);  // the comma
    }
  }

 private:
  Result<HostList::Pattern> TakeEntry() {
    const std::string_view entry = rest_.substr(0, EntrySize());
    HostList::Pattern out;
    int brackets = 0;
    while (!rest_.empty() && rest_[0] != ',') {
      if (rest_[0] != '[') {
        const std::size_t end = rest_.find_first_not_of(kNameCharacters);
        if (end == 0) return Bad("a character that no host name has", entry, "a form such as node[01-16,20]");
        out.emplace_back(std::string(rest_.substr(0, end)));
        rest_.remove_prefix(std::min(end, rest_.size()));
        continue;
      }
      if (++brackets > kMostBrackets) return Bad("more than 4 pairs of brackets", entry, "at most 4");
      NCCL_TUNE_ASSIGN_OR_RETURN(ranges, TakeBrackets(entry));
      out.emplace_back(std::move(ranges));
    }
    if (out.empty()) return Bad("empty host name", entry, "a form such as node[01-16,20]");
    return out;
  }

  Result<std::vector<HostRange>> TakeBrackets(std::string_view entry) {
    const std::size_t close = rest_.find(']');
    if (close == std::string_view::npos) return Bad("a bracket that does not close", entry, "]");
    std::string_view inside = rest_.substr(1, close - 1);
    rest_.remove_prefix(close + 1);
    std::vector<HostRange> out;
    while (true) {
      const std::size_t comma = inside.find(',');
      NCCL_TUNE_ASSIGN_OR_RETURN(range, ParseRange(inside.substr(0, comma)));
      out.push_back(range);
      if (comma == std::string_view::npos) return out;
      inside.remove_prefix(comma + 1);
    }
  }

  // Up to the comma that stands outside brackets.
  std::size_t EntrySize() const {
    bool inside = false;
    for (std::size_t at = 0; at < rest_.size(); ++at) {
      if (rest_[at] == '[') inside = true;
      if (rest_[at] == ']') inside = false;
      if (rest_[at] == ',' && !inside) return at;
    }
    return rest_.size();
  }

  std::string_view rest_;
};

Result<HostList> ParseHostList(std::string_view text) { return HostListParser(text).Parse(); }

}  // namespace nccl_tune::policy
