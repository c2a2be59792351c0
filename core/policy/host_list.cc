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

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A name around its last number. Without a number, or with one too long to count: `before` is all of it.
struct Numbered {
  std::string before;
  std::string digits;
  std::string after;
  std::uint32_t number = 0;
};

Numbered SplitLastNumber(const std::string& name) {
  std::size_t end = name.size();
  while (end > 0 && !IsDigit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  if (begin == end || end - begin > kMostDigits) return {.before = name, .digits = "", .after = ""};
  Numbered out{.before = name.substr(0, begin), .digits = name.substr(begin, end - begin), .after = name.substr(end)};
  for (const char c : out.digits) out.number = out.number * 10 + static_cast<std::uint32_t>(c - '0');
  return out;
}

// Names that differ in their last number only, written with one width where zeros fill it up.
std::string FormatGroup(const std::vector<Numbered>& group) {
  const auto& first = group.front();
  if (group.size() == 1) return first.before + first.digits + first.after;
  std::string ranges;
  for (std::size_t i = 0; i < group.size();) {
    std::size_t last = i;
    while (last + 1 < group.size() && group[last + 1].number == group[last].number + 1) ++last;
    ranges += (ranges.empty() ? "" : ",") + group[i].digits;
    if (last > i) ranges += "-" + group[last].digits;
    i = last + 1;
  }
  return first.before + "[" + ranges + "]" + first.after;
}

// Whether both may stand in one pair of brackets: "09" and "10" do, "9" and "10" do, "09" and "9" do not.
bool GoTogether(const Numbered& a, const Numbered& b) {
  if (a.before != b.before || a.after != b.after || a.digits.empty() || b.digits.empty()) return false;
  const bool filled = a.digits.front() == '0' || b.digits.front() == '0';
  return !filled || a.digits.size() == b.digits.size();
}

}  // namespace

bool HostLess(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!IsDigit(a[i]) || !IsDigit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [](std::string_view text, std::size_t* at) {
      const std::size_t begin = *at;
      while (*at < text.size() && IsDigit(text[*at])) ++*at;
      std::string_view digits = text.substr(begin, *at - begin);
      while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
      return digits;
    };
    const std::string_view left = number(a, &i);
    const std::string_view right = number(b, &j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if (i < a.size() || j < b.size()) return j < b.size();
  return a < b;  // equal but for zeros
}

std::string FormatHostList(std::vector<std::string> names) {
  std::sort(names.begin(), names.end(), HostLess);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string out;
  std::vector<Numbered> group;
  const auto flush = [&] {
    if (!group.empty()) out += (out.empty() ? "" : ",") + FormatGroup(group);
    group.clear();
  };
  for (const auto& name : names) {
    Numbered next = SplitLastNumber(name);
    if (!group.empty() && !GoTogether(group.back(), next)) flush();
    group.push_back(std::move(next));
  }
  flush();
  return out;
}

}  // namespace nccl_tune::policy
