// SPDX-License-Identifier: Apache-2.0
//
// What NCCL would do on a node with the user's own settings and nothing of ours, by the model of its reading.
#ifndef NCCL_TUNE_CORE_ENV_WITHOUT_US_H_
#define NCCL_TUNE_CORE_ENV_WITHOUT_US_H_

#include <string>
#include <vector>

#include "base/environment.h"
#include "core/facts/node.h"
#include "core/nccl/nccl_version.h"

namespace nccl_tune::env {

struct WithoutUs {
  nccl::NcclVersion version;
  std::vector<std::string> ports;  // "mlx5_2:1 with GID 3, 172.20.0.11", in the facts' order
  std::string no_ports;            // why there are none
  std::string interface;           // "eno1, 10.0.0.11"; empty: none, and NCCL's init fails or needs a look-up
  bool interface_unknown = false;  // a host's name would have to be looked up
  std::string interface_reason;
};

WithoutUs PredictWithoutUs(const facts::Node& node, const base::Environment& user, const nccl::NcclVersion& version);

}  // namespace nccl_tune::env

#endif  // NCCL_TUNE_CORE_ENV_WITHOUT_US_H_
