// SPDX-License-Identifier: Apache-2.0
#include "envplugin/live.h"

#include <string>
#include <utility>
#include <vector>

#include "envplugin/deadline_tree.h"
#include "envplugin/short_lookups.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "hw/local_address.h"

namespace nccl_tune::envplugin {

base::Result<Decision> DecideHere(const base::Environment& environment, const nccl::NcclVersion& version,
                                  std::chrono::milliseconds deadline) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + deadline;
  NCCL_TUNE_ASSIGN_OR_RETURN(directory, hw::DirectoryTree::Open("/"));
  const DeadlineTree tree(*directory, [&] { return Clock::now() >= end; });
  const std::string name = hw::OwnHostName();
  const Source source{.tree = &tree,
                      .node = name,
                      .ip = [&](std::vector<facts::Note>* notes) { return hw::ReadLiveIp(tree, notes); },
                      .address =
                          [&](const hw::IpFacts& ip) {
                            const ShortLookups lookups;
                            return hw::FindNodeAddress(name, ip.interfaces);
                          }};
  auto decision = Decide(source, environment, version);
  // Without a plan nothing was read that time could have spoilt.
  if ((!decision.ok() || decision->nothing.empty()) && tree.IsLate()) {
    return base::Error{.code = base::Code::kTimeout,
                       .what = "reading this node took longer than " + std::to_string(deadline.count()) + " ms"};
  }
  return decision;
}

}  // namespace nccl_tune::envplugin
