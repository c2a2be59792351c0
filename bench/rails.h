// SPDX-License-Identifier: Apache-2.0
//
// The rails of a node for --per-rail, the settings that leave a run one of them, and what came out of each. NCCL and
// Open MPI read their devices once per process, so that each rail is measured by processes of its own (rail_runs.h).
// Pure.
#ifndef NCCL_TUNE_BENCH_RAILS_H_
#define NCCL_TUNE_BENCH_RAILS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "bench/options.h"
#include "bench/wire_facts.h"
#include "core/env/plan.h"
#include "core/facts/node.h"

namespace nccl_tune::bench {

struct Rail {
  Link link{};
  std::string netdev{};  // of the port, or the interface itself; empty: not known
  std::optional<int> gid{};
  std::optional<double> gbps{};
};

// Those of NCCL_TUNE_PLAN, else those that `wire` found; what the plan leaves open is looked up in `node`.
std::vector<Rail> FindRails(const base::Environment& environment, const facts::Node& node, const Wire& wire);

// What the environment of a run over this rail alone has, over what it had. Empty value: not in it at all. An Error for
// host memory over a port whose interface is not known.
base::Result<std::vector<std::pair<std::string, std::string>>> SettingsFor(const Rail& rail, BackendKind backend,
                                                                           const base::Environment& environment);

// Whether all nodes have as many rails: then the number. `texts` are of all processes: "rails: HOST RAIL RAIL ...", or
// why one cannot go on, which is the Error then. Another text is of a process that was started with other flags.
std::string RailsToText(const std::string& host, const std::vector<Rail>& rails);
std::string RefusalToText(const base::Error& error);
base::Result<std::uint64_t> CommonCount(const std::vector<std::string>& texts);

// Open MPI now and then takes a peer's addresses from the run before (seen in 1 of 30 runs): then the bytes leave by
// another rail. `before` and `after` are what the interfaces of all rails have sent; nothing where that is not known.
bool IsAstray(const std::vector<std::optional<std::uint64_t>>& before,
              const std::vector<std::optional<std::uint64_t>>& after, std::size_t rail);

struct RailResult {
  std::string name{};
  double busbw = 0;  // GB/s, the best row
  std::optional<double> gbps{};
  std::size_t times = 0;  // measured
};

// Rails under `tolerance` of what the good ones have, by their line rate where all are known. At least two are needed.
std::vector<bool> SlowRails(const std::vector<RailResult>& results, double tolerance);
// Lines with # for stdout.
std::string RailText(const std::vector<RailResult>& results, double tolerance, const std::string& collective);

// The lines of a run's stdout up to its devices.
std::string HeaderOf(const std::string& output);

// How a run of a rail tells its best busbw at the end of its stdout, and whether it could not write a result file.
std::string BestText(double busbw, bool lost_file);
std::optional<double> BestOf(const std::string& output);
bool HasLostFile(const std::string& output);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_RAILS_H_
