// SPDX-License-Identifier: Apache-2.0
//
// What the first task of a node tells the launcher on rank 0: where it is, and the facts that must agree between the
// nodes. Compact JSON, since the data of all nodes pass each node: docs/formats.md. Pure.
//
// Unknown is absent, never a difference. Of the environment only NCCL's variables and their sisters in other libraries
// travel; values that guard a job and long ones only as a hash.
#ifndef NCCL_TUNE_LAUNCHER_NODE_ENTRY_H_
#define NCCL_TUNE_LAUNCHER_NODE_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "core/env/plan.h"
#include "core/nccl/conf_file.h"
#include "launcher/rails.h"

namespace nccl_tune::launcher {

inline constexpr std::size_t kEntryLimit = 16 << 10;  // bytes of an entry's text
inline constexpr std::size_t kMostVariables = 32;     // of one kind in an entry; the rest is one hash

// What our plan set and an agreement may change: neither the user, a file of NCCL nor an option has set it.
struct Changeable {
  bool rails = false;
  bool gid = false;
  bool traffic_class = false;
  bool interface = false;

  bool operator==(const Changeable&) const = default;
};

struct NodeEntry {
  std::string node{};
  std::uint32_t node_id = 0;
  std::string ranks{};                   // "0-7"
  std::optional<std::string> address{};  // where the node's launcher listens
  std::optional<std::uint16_t> port{};
  std::optional<std::string> network{};  // where the node's plan means to meet the others
  bool on_rail = false;                  // that network is a rail's
  bool planned = false;                  // it has a plan of ours
  Changeable changeable{};

  std::vector<Rail> rails{};  // of the plan; without one those that the rules would take
  std::string layout{};       // DescribeLayout
  // By name: what our plan set that must be equal on all nodes, and all that was set by someone else.
  std::map<std::string, std::string> planned_values{};
  std::map<std::string, std::string> user_values{};
  std::optional<std::string> nccl{};    // version of the library that the loader finds
  std::optional<std::string> driver{};  // of the GPUs
  std::optional<std::uint32_t> gpus{};  // of the step on this node
  std::optional<std::string> gpu_model{};
  std::string version{};  // of nccl-tune
};

std::string EncodeEntry(const NodeEntry& entry);
// Fails (kInvalidInput) on text that no EncodeEntry of this version wrote: the member that is wrong, and what to do.
base::Result<NodeEntry> DecodeNodeEntry(std::string_view text);

// planned_values, user_values and changeable of an entry. `now`: what NCCL sees, from environment and files; `plan`:
// that of the environment, null without one.
void DescribeSettings(const nccl::SourcedEnvironment& now, const env::PlanSummary* plan, NodeEntry* entry);

// Whether ranks that differ in a variable wait for each other: each derives its part of an algorithm, or the transport,
// from it.
bool MustBeAlike(std::string_view variable);

// The NCCL variables of an environment that must be equal within a node, a line "NAME=VALUE" each, for FindOddSettings.
std::string SettingsOf(const base::Environment& environment);
// In what another task's settings differ from this one's: "NCCL_ALGO=Tree, NCCL_PROTO unset", at most three; printable.
// `grave` is set where one must be alike.
std::string FindOddSettings(std::string_view own, std::string_view others, bool* grave);

// Whether nodes may differ in a variable by right: it names devices or interfaces of the node, or the node itself.
bool IsOfOneNode(std::string_view variable);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_NODE_ENTRY_H_
