// SPDX-License-Identifier: Apache-2.0
//
// Replays a captured machine as `nccl-tune --host` does, and renders what its goldens hold.
#ifndef NCCL_TUNE_TESTS_HOSTS_REPLAY_H_
#define NCCL_TUNE_TESTS_HOSTS_REPLAY_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "core/env/plan.h"
#include "core/facts/node.h"
#include "core/facts/node_details.h"

namespace nccl_tune::hosts {

struct Replay {
  facts::Node node;
  facts::NodeDetails details;
  env::Plan plan;      // for a user who has set nothing
  env::Plan unpinned;  // the same with gid_index = "auto"
};

// A file by its path, wherever links lead: Bazel hands a test links out of their own folder.
base::Result<std::string> ReadWhole(const std::string& path);

// The capture `name` in `folder`. Fails on a file that cannot be read and on a capture that is none.
base::Result<Replay> ReplayCapture(const std::string& folder, const std::string& name);

// Names of the captures in `folder`, without ".capture", sorted.
base::Result<std::vector<std::string>> ListCaptures(const std::string& folder);

struct Golden {
  std::string file;  // "NAME.facts.json", in the folder of goldens
  std::string text;
};
// What the goldens of `name` must hold.
std::vector<Golden> RenderGoldens(const std::string& name, const Replay& replay);

}  // namespace nccl_tune::hosts

#endif  // NCCL_TUNE_TESTS_HOSTS_REPLAY_H_
