// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_table.h"

#include <algorithm>
#include <map>

#include "base/result.h"

namespace nccl_tune::launcher {
namespace {

struct Node {
  const Entry* first = nullptr;  // its task with local rank 0
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> odd;  // ranks whose digest differs from the first task's
};

std::map<std::uint32_t, Node> GroupByNode(const std::vector<Entry>& entries) {
  std::map<std::uint32_t, Node> nodes;
  for (std::uint32_t rank = 0; rank < entries.size(); ++rank) {
    Node& node = nodes[entries[rank].node_id];
    node.ranks.push_back(rank);
    if (entries[rank].local_rank == 0 || node.first == nullptr) node.first = &entries[rank];
  }
  for (auto& [id, node] : nodes) {
    for (const std::uint32_t rank : node.ranks) {
      if (entries[rank].digest != node.first->digest) node.odd.push_back(rank);
    }
  }
  return nodes;
}

std::string Settings(const Entry& entry) {
  std::string text = entry.planned ? "plan:" : "no plan:";
  if (entry.settings.empty()) return text + " nothing set";
  for (const auto& [name, value] : entry.settings) text += " " + base::Printable(name) + "=" + base::Printable(value);
  return text;
}

std::string Padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::string CompactList(const std::vector<std::uint32_t>& ascending) {
  std::string text;
  for (std::size_t first = 0; first < ascending.size();) {
    std::size_t last = first;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(ascending[first]);
    if (last > first) text += "-" + std::to_string(ascending[last]);
    first = last + 1;
  }
  return text;
}

std::string RenderRankTable(const std::vector<Entry>& entries) {
  const auto nodes = GroupByNode(entries);
  std::size_t name_width = 4;
  std::size_t rank_width = 5;
  for (const auto& [id, node] : nodes) {
    name_width = std::max(name_width, base::Printable(node.first->node).size());
    rank_width = std::max(rank_width, CompactList(node.ranks).size());
  }
  std::string text = Padded("node", name_width) + "  " + Padded("ranks", rank_width) + "  settings\n";
  for (const auto& [id, node] : nodes) {
    text += Padded(base::Printable(node.first->node), name_width) + "  " + Padded(CompactList(node.ranks), rank_width) +
            "  " + Settings(*node.first) + "\n";
    if (!node.odd.empty())
      text += "  ranks " + CompactList(node.odd) + " have other settings than their node's first\n";
  }
  return text;
}

}  // namespace nccl_tune::launcher
