// SPDX-License-Identifier: Apache-2.0
//
// What rank 0 concludes from all entries and failed probes: an agreement where one can be made. Pure.
#ifndef NCCL_TUNE_LAUNCHER_AGREE_H_
#define NCCL_TUNE_LAUNCHER_AGREE_H_

#include <string>
#include <vector>

#include "launcher/agreement.h"
#include "launcher/differences.h"
#include "launcher/node_entry.h"

namespace nccl_tune::launcher {

// A connection between two nodes' launchers that did not come about.
struct FailedProbe {
  std::string from;
  std::string to;
  std::string address;  // of `to`: "172.20.0.12"
  std::string reason;   // "no answer within 2 s", "connection refused"
};

// Nothing without failures.
std::vector<Difference> DifferencesOf(const std::vector<FailedProbe>& failures);

struct Agreed {
  Agreement agreement;
  std::vector<std::string> lines;  // what is done on all nodes and why, a printable line each
};

// Marks in `differences` (of Compare and DifferencesOf) those that the agreement settles. Where a value that is not
// ours stands against an agreement, none is made.
Agreed Agree(const std::vector<NodeEntry>& entries, std::vector<Difference>* differences);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_AGREE_H_
