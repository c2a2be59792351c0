// SPDX-License-Identifier: Apache-2.0
//
// Whether the interfaces that the nodes' plans name for finding each other lie in one network. A node decides alone, so
// one with a dead rail names another interface than the rest, and ranks would wait for each other for ever. Pure.
#ifndef NCCL_TUNE_LAUNCHER_MEETING_H_
#define NCCL_TUNE_LAUNCHER_MEETING_H_

#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "launcher/entry.h"
#include "launcher/rendezvous.h"

namespace nccl_tune::launcher {

struct Meeting {
  std::string network;   // "172.20.0.0/24"
  bool on_rail = false;  // inferred: the interface of a selected RDMA port, on which the others are supposed to be too
};

// This node's, by its plan; nothing when there is no plan for this node, or the user has named an interface.
std::optional<Meeting> PlannedMeeting(const base::Environment& environment, const std::vector<OwnAddress>& own);

// What to tell the user when the nodes do not meet: a node relies on its rail, and another one is elsewhere. Nothing
// when they do, or when every node relies on its address in Slurm, which all nodes reach across networks.
std::optional<std::string> FindDisagreement(const std::vector<Entry>& entries);

// Takes away the interface that the plan set, also where it is the value of another library's variable, so that the
// ranks find each other as they would without it.
void DropPlannedInterface(base::Environment* environment);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_MEETING_H_
