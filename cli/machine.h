// SPDX-License-Identifier: Apache-2.0
//
// The machine that a command is about: this one, a tree, or a capture.
#ifndef NCCL_TUNE_CLI_MACHINE_H_
#define NCCL_TUNE_CLI_MACHINE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "core/env/plan.h"
#include "core/facts/ip_address.h"
#include "core/facts/node.h"
#include "hw/ip_facts.h"
#include "hw/tree.h"

namespace nccl_tune::cli {

struct Machine {
  std::unique_ptr<hw::Tree> tree;
  hw::IpFacts ip;
  std::optional<facts::IpAddress> node_addr;
  std::string name;                // host name of this machine, label of a capture, empty for a tree
  std::vector<facts::Note> notes;  // of reading addresses and routes
  bool live = false;
};

base::Result<Machine> OpenMachine(const Options& options);

}  // namespace nccl_tune::cli

#endif  // NCCL_TUNE_CLI_MACHINE_H_
