// SPDX-License-Identifier: Apache-2.0
//
// What doubts.h judges, read from a node: clocks, load and link counters below a root handle, so that tests lay out
// files. GPUs are gpu_watch.h's. What cannot be read is absent and costs its doubts, nothing else.
#ifndef NCCL_TUNE_BENCH_DOUBT_FACTS_H_
#define NCCL_TUNE_BENCH_DOUBT_FACTS_H_

#include <vector>

#include "bench/doubts.h"
#include "bench/wire_facts.h"
#include "hw/tree.h"

namespace nccl_tune::bench {

// Without GPUs. Some four files per group of cores and two per link and core: a few milliseconds. Sources, below /sys
// and /proc: devices/system/cpu/cpufreq/policyN, devices/system/cpu/cpuN/thermal_throttle, loadavg,
// class/net/NAME/statistics; class/infiniband/NAME/ports/N/counters, whose data counters count 4 bytes (InfiniBand
// Architecture, PortXmitData).
Snapshot ReadSnapshot(const hw::Tree& tree, const std::vector<Link>& links);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_DOUBT_FACTS_H_
