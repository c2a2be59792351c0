// SPDX-License-Identifier: Apache-2.0
#include "launcher/known_errors.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "launcher/known_error_rows.h"

namespace nccl_tune::launcher {
namespace {

constexpr std::size_t kMostLines = 200;
constexpr std::size_t kMostBytes = 4096;
constexpr std::size_t kMostExplanations = 3;

std::vector<KnownError> AllRows() {
  std::vector<KnownError> all;
  for (auto&& rows :
       {VerbsErrors(), NetworkErrors(), GpuErrors(), PyTorchErrors(), LauncherErrors(), GeneralErrors()}) {
    std::copy(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

// The end of the line, where a message stands after a progress bar, without colours: ESC [ parameters letter.
std::string Plain(std::string_view line) {
  if (line.size() > kMostBytes) line.remove_prefix(line.size() - kMostBytes);
  std::string out;
  out.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b' || i + 1 >= line.size() || line[i + 1] != '[') {
      out += line[i];
      continue;
    }
    i += 2;
    while (i < line.size() && line[i] >= 0x20 && line[i] <= 0x3f) ++i;  // parameters; then the letter that ends it
  }
  return out;
}

bool MatchesAny(std::string_view line, const KnownError& row) {
  return std::any_of(row.patterns.begin(), row.patterns.end(),
                     [&](std::string_view pattern) { return !pattern.empty() && MatchesPattern(line, pattern); });
}

// The rows that may be used with these lines: those without `also`, and those whose `also` stands in one of them.
std::vector<const KnownError*> UsableRows(const std::vector<std::string>& lines) {
  std::vector<const KnownError*> usable;
  for (const auto& row : KnownErrors()) {
    const bool has_companion =
        row.also.empty() || std::any_of(lines.begin(), lines.end(),
                                        [&](const std::string& line) { return MatchesPattern(line, row.also); });
    if (has_companion) usable.push_back(&row);
  }
  return usable;
}

}  // namespace

std::span<const KnownError> KnownErrors() {
  static const std::vector<KnownError> table = AllRows();
  return table;
}

bool MatchesPattern(std::string_view line, std::string_view pattern) {
  // The leftmost place of each part leaves the most room for the next, so none need be tried again.
  while (!pattern.empty()) {
    const std::size_t star = std::min(pattern.find('*'), pattern.size());
    const std::size_t at = line.find(pattern.substr(0, star));
    if (at == std::string_view::npos) return false;
    line.remove_prefix(at + star);
    pattern.remove_prefix(std::min(star + 1, pattern.size()));
  }
  return true;
}

std::vector<Explanation> ExplainLines(std::span<const std::string> lines) {
  const std::size_t skipped = lines.size() - std::min(lines.size(), kMostLines);
  std::vector<std::string> plain;
  for (const auto& line : lines.subspan(skipped)) plain.push_back(Plain(line));

  const auto rows = UsableRows(plain);
  std::vector<std::optional<std::size_t>> first_line(rows.size());
  bool any_tells_why = false;
  for (std::size_t line = 0; line < plain.size(); ++line) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto* one) { return MatchesAny(plain[line], *one); });
    if (row == rows.end()) continue;
    auto& first = first_line[static_cast<std::size_t>(row - rows.begin())];
    if (!first) first = line + skipped;
    any_tells_why = any_tells_why || !(*row)->general;
  }
  std::vector<Explanation> found;
  for (std::size_t row = 0; row < rows.size() && found.size() < kMostExplanations; ++row) {
    if (first_line[row] && !(any_tells_why && rows[row]->general)) {
      found.push_back(Explanation{.error = rows[row], .line = *first_line[row]});
    }
  }
  return found;
}

}  // namespace nccl_tune::launcher
