// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_table.h"

#include <algorithm>

#include "base/result.h"
#include "launcher/rails.h"

namespace nccl_tune::launcher {
namespace {

std::string Settings(const NodeEntry& entry) {
  std::string text = entry.planned ? "plan:" : "no plan:";
  if (!entry.rails.empty()) text += " rails " + base::Printable(EncodeKinds(entry.rails));
  for (const auto& [name, value] : entry.planned_values) {
    text += " " + base::Printable(name) + "=" + base::Printable(value);
  }
  if (text.back() == ':') text += " nothing";
  if (entry.user_values.empty()) return text;
  text += "; user:";
  for (const auto& [name, value] : entry.user_values) {
    text += " " + base::Printable(name) + "=" + base::Printable(value);
  }
  return text;
}

std::string Padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::string RenderNodeTable(const std::vector<NodeEntry>& entries) {
  std::size_t name_width = 4;
  std::size_t rank_width = 5;
  for (const NodeEntry& entry : entries) {
    name_width = std::max(name_width, base::Printable(entry.node).size());
    rank_width = std::max(rank_width, base::Printable(entry.ranks).size());
  }
  std::string text = Padded("node", name_width) + "  " + Padded("ranks", rank_width) + "  settings\n";
  for (const NodeEntry& entry : entries) {
    text += Padded(base::Printable(entry.node), name_width) + "  " + Padded(base::Printable(entry.ranks), rank_width) +
            "  " + Settings(entry) + "\n";
  }
  return text;
}

}  // namespace nccl_tune::launcher
