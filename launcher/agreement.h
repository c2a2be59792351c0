// SPDX-License-Identifier: Apache-2.0
//
// What rank 0 tells all nodes to do alike, so that what each decided alone fits together. Only what our plans set is
// ever changed. Pure.
#ifndef NCCL_TUNE_LAUNCHER_AGREEMENT_H_
#define NCCL_TUNE_LAUNCHER_AGREEMENT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "core/facts/node.h"

namespace nccl_tune::launcher {

struct Agreement {
  // Rails that no node uses, by their network or by their place in a layout (launcher/rails.h) of `layout_size` ports.
  std::vector<std::string> drop_networks{};
  std::vector<std::size_t> drop_places{};
  std::size_t layout_size = 0;
  std::optional<int> family{};                 // of the GIDs: 4 or 6
  std::optional<std::string> traffic_class{};  // NCCL_IB_TC of all; empty: taken away
  bool fall_back = false;  // to the interface of each node's address in Slurm for NCCL_SOCKET_IFNAME
  bool stop = false;       // the step ends here; rank 0 says why

  bool operator==(const Agreement&) const = default;
};

// Compact JSON; {"v":1} where there is nothing to do.
std::string EncodeAgreement(const Agreement& agreement);
// Fails (kInvalidInput) on text that no EncodeAgreement of this version wrote.
base::Result<Agreement> DecodeAgreement(std::string_view text);

// Changes this node's variables and NCCL_TUNE_PLAN in `environment`, as far as they are still what the plan set, and
// what follows them in other libraries. `node`: this node's facts; for the way back with its address in Slurm, without
// which NCCL_SOCKET_IFNAME is left unset. Returns what was done, a line each: "NCCL_IB_TC=106". After a way back
// MASTER_ADDR must be found anew.
std::vector<std::string> ApplyAgreement(const Agreement& agreement, const facts::Node& node,
                                        base::Environment* environment);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_AGREEMENT_H_
