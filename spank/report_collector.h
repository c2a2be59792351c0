// SPDX-License-Identifier: Apache-2.0
//
// srun's side of report_protocol.h: a process beside srun that listens, prints what the nodes say to srun's stderr, one
// table a plan, and ends with srun at the latest. Nothing of it stays in srun but one descriptor.
#ifndef NCCL_TUNE_SPANK_REPORT_COLLECTOR_H_
#define NCCL_TUNE_SPANK_REPORT_COLLECTOR_H_

#include <chrono>
#include <string>

#include "base/result.h"

namespace nccl_tune::spank {

struct CollectorTimes {
  std::chrono::milliseconds quiet{1000};     // what came is printed when nothing came for this long
  std::chrono::milliseconds longest{60000};  // then it ends, whoever is missing
};

// Starts the process for `nodes` reports. The text of the CollectorPlace that the nodes need; fails where this host has
// no address that others could reach or no process can be started.
base::Result<std::string> StartCollector(int nodes, const CollectorTimes& times = {});

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_REPORT_COLLECTOR_H_
