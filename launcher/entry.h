// SPDX-License-Identifier: Apache-2.0
//
// What each rank tells the others in the one fence: where it runs and under which NCCL settings. Compact JSON; the data
// of all ranks pass each node, so only the first task of a node carries the values, the others their digest. Pure.
#ifndef NCCL_TUNE_LAUNCHER_ENTRY_H_
#define NCCL_TUNE_LAUNCHER_ENTRY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "pmix/step.h"

namespace nccl_tune::launcher {

struct Entry {
  std::uint32_t node_id = 0;
  std::uint32_t local_rank = 0;
  std::string node{};
  bool planned = false;  // the settings are what NCCL_TUNE_PLAN sets; else the NCCL_* variables
  std::string digest{};  // of the settings
  std::map<std::string, std::string> settings{};  // of the first task of a node
  std::optional<std::string> network{};           // where the node's plan means to meet the others
  bool on_rail = false;                           // that network is a rail's (launcher/meeting.h)
  std::optional<std::string> address{};           // of rank 0: where the others reach it
  std::optional<std::uint16_t> port{};            // of rank 0: free when it looked
};

// Without address and port. An unreadable NCCL_TUNE_PLAN counts as none.
Entry DescribeTask(const pmix::Step& step, const base::Environment& environment);

std::string EncodeEntry(const Entry& entry);
// Fails on text that no EncodeEntry of this version wrote.
base::Result<Entry> DecodeEntry(std::string_view text);

// The member `name` ("if", "addr") of the plan in the environment; nothing without a plan that has it.
std::optional<std::string> PlanText(const base::Environment& environment, std::string_view name);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_ENTRY_H_
