// SPDX-License-Identifier: Apache-2.0
//
// The table of differences: RenderDifferences, CutHostList.
#include <algorithm>
#include <array>

#include "launcher/differences.h"

namespace nccl_tune::launcher {
namespace {

constexpr std::size_t kMostLines = 20;
constexpr std::size_t kMostItems = 7;  // in the table; each may take a few lines
constexpr std::size_t kValueWidth = 24;
constexpr std::size_t kItemWidth = 28;
constexpr std::size_t kNodesWidth = 36;

using Cells = std::array<std::string, 4>;

std::string Cut(const std::string& text, std::size_t width) {
  const std::string shown = base::Printable(text);
  return shown.size() <= width ? shown : shown.substr(0, width - 3) + "...";
}

std::string Counted(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

void AddItem(const Difference& difference, std::vector<Cells>* table) {
  Cells cells = {Cut(difference.what, kItemWidth), Cut(difference.most, kValueWidth), "", ""};
  for (const auto& odd : difference.odd) {
    cells[2] = Cut(odd.value, kValueWidth);
    cells[3] = CutHostList(odd.nodes, odd.count, kNodesWidth);
    table->push_back(cells);
    cells[0] = cells[1] = "";
  }
  if (difference.other_values == 0) return;
  cells[2] = "...";
  cells[3] = Counted(difference.other_nodes, "node") + " with " + Counted(difference.other_values, "other value");
  table->push_back(cells);
}

std::vector<std::string> Align(const std::vector<Cells>& table) {
  std::array<std::size_t, 4> widths{};
  for (const auto& cells : table) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::vector<std::string> out;
  for (const auto& cells : table) {
    std::string line = " ";
    for (std::size_t i = 0; i < cells.size(); ++i)
      line += " " + cells[i] + std::string(widths[i] + 1 - cells[i].size(), ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace

std::string CutHostList(const std::string& list, std::size_t count, std::size_t width) {
  const std::string shown = base::Printable(list);
  if (shown.size() <= width) return shown;
  const std::string rest = "... (" + Counted(count, "node") + ")";
  if (width <= rest.size()) return Counted(count, "node");
  const auto comma = shown.rfind(',', width - rest.size() - 1);
  return comma == std::string::npos ? shown.substr(0, width - rest.size()) + rest : shown.substr(0, comma + 1) + rest;
}

std::vector<std::string> RenderDifferences(const std::vector<Difference>& differences, Severity least,
                                           std::size_t nodes) {
  std::vector<const Difference*> shown;
  for (const auto& difference : differences) {
    if (difference.severity >= least) shown.push_back(&difference);
  }
  if (shown.empty()) return {};
  // The gravest first: what does not find room is the least of it.
  std::stable_sort(shown.begin(), shown.end(), [](const auto* a, const auto* b) {
    return a->settled != b->settled ? b->settled : a->severity > b->severity;
  });
  std::vector<Cells> table = {{"item", "most nodes", "odd nodes", "which"}};
  std::vector<std::string> advice;
  std::size_t taken = 0;
  for (const auto* difference : shown) {
    std::vector<Cells> more;
    AddItem(*difference, &more);
    // The heading, the line of what is left, and a line of advice for this one.
    if (taken == kMostItems || table.size() + more.size() + advice.size() + 3 > kMostLines) break;
    table.insert(table.end(), more.begin(), more.end());
    if (!difference->settled) advice.push_back(Cut(difference->what + ": " + difference->advice, 120));
    ++taken;
  }
  std::vector<std::string> out = {"the " + std::to_string(nodes) + " nodes differ:"};
  for (auto& line : Align(table)) out.push_back(std::move(line));
  if (taken < shown.size()) out.push_back("  and in " + Counted(shown.size() - taken, "more item"));
  out.insert(out.end(), advice.begin(), advice.end());
  return out;
}

}  // namespace nccl_tune::launcher
