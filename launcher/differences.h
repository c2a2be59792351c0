// SPDX-License-Identifier: Apache-2.0
//
// What the nodes' entries differ in: for each item the value that most nodes have and the odd nodes, as one small table
// whatever the number of nodes. Pure.
#ifndef NCCL_TUNE_LAUNCHER_DIFFERENCES_H_
#define NCCL_TUNE_LAUNCHER_DIFFERENCES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/node_entry.h"

namespace nccl_tune::launcher {

enum class Severity {
  kNote,  // said only to who asks
  kWarn,  // slower, or apt to break
  kFail,  // the job will hang, fail or measure something else
};

// What an agreement can settle; everything else is kOther.
enum class Item { kOther, kRails, kFamily, kTrafficClass, kMeeting, kProbes };

// Nodes with one value that is not most nodes' value.
struct OddNodes {
  std::string value{};
  std::size_t count = 0;
  std::string nodes{};  // "server[2-4,7]", all of them
};

struct Difference {
  Item item = Item::kOther;
  Severity severity = Severity::kWarn;
  std::string what{};  // "rails", "NCCL_IB_TIMEOUT"
  std::string most{};  // the value of most nodes; of two as frequent that of the first node
  std::size_t most_count = 0;
  std::vector<OddNodes> odd{};   // most nodes first; at most 3
  std::size_t other_values = 0;  // beyond those
  std::size_t other_nodes = 0;   // that have them
  std::string advice{};          // one sentence
  bool settled = false;          // an agreement makes it no difference any more
};

// In a fixed order. A node whose value is unknown takes no part in that item. Nothing for fewer than two nodes.
std::vector<Difference> Compare(const std::vector<NodeEntry>& entries);

// The table of those at least as grave as `least`, and a line of advice for each that is not settled, at most 20 lines
// of at most 120 columns; empty without any. `nodes`: how many were compared.
std::vector<std::string> RenderDifferences(const std::vector<Difference>& differences, Severity least,
                                           std::size_t nodes);

// A list of hosts cut to `width` columns, with how many there are: "server[1,3,5,... (90 nodes)".
std::string CutHostList(const std::string& list, std::size_t count, std::size_t width);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_DIFFERENCES_H_
