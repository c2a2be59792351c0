// SPDX-License-Identifier: Apache-2.0
#include "launcher/leaders.h"

#include <array>
#include <utility>

#include "base/parse_number.h"
#include "launcher/tree.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;
using base::Result;

constexpr std::string_view kVersion = "1";
constexpr std::string_view kNothing = "-";

std::string OrNothing(const std::string& text) { return text.empty() ? std::string(kNothing) : text; }

}  // namespace

std::string EncodePoint(const LeaderPoint& point) {
  return std::string(kVersion) + " " + std::to_string(point.node) + " " + std::to_string(point.port) + " " +
         std::to_string(point.procs) + " " + std::to_string(point.exec_error) + " " + OrNothing(point.address) + " " +
         OrNothing(point.socket_name) + " " + point.name + "\n" + point.entry;
}

Result<LeaderPoint> DecodePoint(std::string_view text) {
  const Error malformed{.code = Code::kInvalidInput,
                        .what = "not an entry of this version of nccl-launch",
                        .seen = base::Shortened(text),
                        .hint = "Do all tasks have the same nccl-launch, with the same options?"};
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return malformed;
  std::string_view line = text.substr(0, end);
  std::array<std::string_view, 7> words;
  for (std::string_view& word : words) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return malformed;
    word = line.substr(0, space);
    line.remove_prefix(space + 1);
  }
  const auto node = base::ParseInteger<std::uint32_t>(words[1]);
  const auto port = base::ParseInteger<std::uint16_t>(words[2]);
  const auto procs = base::ParseInteger<std::uint16_t>(words[3]);
  const auto exec_error = base::ParseInteger<std::uint16_t>(words[4]);
  if (words[0] != kVersion || !node.ok() || !port.ok() || !procs.ok() || !exec_error.ok()) return malformed;
  if (words[5].empty() || words[6].empty()) return malformed;
  return LeaderPoint{.node = *node,
                     .name = std::string(line),
                     .address = words[5] == kNothing ? "" : std::string(words[5]),
                     .port = *port,
                     .socket_name = words[6] == kNothing ? "" : std::string(words[6]),
                     .procs = *procs,
                     .exec_error = *exec_error,
                     .entry = std::string(text.substr(end + 1))};
}

Leaders::Leaders(pmix::Exchange& exchange, std::vector<std::uint32_t> tasks)
    : exchange_(exchange), tasks_(std::move(tasks)), block_(FirstRanksBlock(tasks_)) {}

Result<LeaderPoint> Leaders::At(std::uint32_t rank) {
  NCCL_TUNE_ASSIGN_OR_RETURN(text, exchange_.Get(rank, kLeaderKey));
  NCCL_TUNE_ASSIGN_OR_RETURN(point, DecodePoint(text));
  point.rank = rank;
  return point;
}

base::Status Leaders::Scan() {
  scanned_ = true;
  for (std::uint32_t rank = 0; rank < exchange_.size(); ++rank) {
    auto point = At(rank);
    if (point.ok()) {
      const std::uint32_t node = point->node;
      found_.emplace(node, std::move(point).value());
    } else if (point.error().code != Code::kNotFound) {
      return point.error();
    }
  }
  return base::Ok();
}

Result<LeaderPoint> Leaders::Find(std::uint32_t node) {
  if (const auto known = found_.find(node); known != found_.end()) return known->second;
  // Block: the node after the last rank of the one before. Cyclic: the first round gives each node one.
  for (const std::uint32_t rank : {node < block_.size() ? block_[node] : 0, node}) {
    if (scanned_ || rank >= exchange_.size()) continue;
    auto point = At(rank);
    if (!point.ok() && point.error().code != Code::kNotFound) return point.error();
    if (point.ok() && point->node == node) return found_.emplace(node, std::move(point).value()).first->second;
  }
  if (!scanned_) {
    NCCL_TUNE_RETURN_IF_ERROR(Scan());
    if (const auto known = found_.find(node); known != found_.end()) return known->second;
  }
  return Error{.code = Code::kNotFound,
               .what = "the exchange ended without an entry of node " + std::to_string(node) + " of the step",
               .hint =
                   "Its first task ended before it took part (its own messages say why), or two nccl-launch run in one "
                   "task at once."};
}

}  // namespace nccl_tune::launcher
