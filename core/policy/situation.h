// SPDX-License-Identifier: Apache-2.0
//
// All that the rules look at: the node, what was chosen on it, and what the site and the user prefer.
#ifndef NCCL_TUNE_CORE_POLICY_SITUATION_H_
#define NCCL_TUNE_CORE_POLICY_SITUATION_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/facts/node.h"
#include "core/policy/choose_bootstrap.h"
#include "core/policy/select_ports.h"
#include "core/policy/site_policy.h"
#include "core/policy/steer_gid.h"

namespace nccl_tune::policy {

struct Preferences {
  SitePolicy site{};  // what holds for this node and step
  bool mpi = false;   // also the variables of MPI and UCX
  // The user would rather have no step than one over another transport than NCCL's own for the ports.
  bool strict = false;
  std::string net_plugin{};  // a plugin of NCCL's that is named or was found, looked for only in strict; empty: none
  // What the user asks for beside the environment, where the site's policy lets it through: it stands over both.
  std::map<std::string, std::string> asked{};
  std::set<std::string> left_out{};  // never set, and taken away where it is set
};

// Points into `node`, which must outlive it.
struct Situation {
  const facts::Node* node = nullptr;
  Preferences preferences;
  PortSelection selection;
  // The selected ports in NCCL's syntax. Absent: no port, or one that a list cannot name (`why_no_list`). What was
  // computed for these ports holds for them only, so it is set only together with the list.
  std::optional<std::string> hca_list;
  std::string why_no_list;
  GidSteering steering;
  Bootstrap bootstrap;
  std::optional<std::string> interface;  // the bootstrap interface, where a list can name it
};

Situation Assess(const facts::Node& node, const Preferences& preferences = {});

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_SITUATION_H_
