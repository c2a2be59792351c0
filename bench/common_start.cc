// SPDX-License-Identifier: Apache-2.0
#include "bench/common_start.h"

#include <algorithm>

#include "bench/device_text.h"
#include "bench/sizes.h"
#include "bench/table_plan.h"

namespace nccl_tune::bench {

using base::Error;
using base::Result;
using base::Status;

Result<StartDecision> AgreeOnStart(Backend& backend, const Options& options, const Place& place,
                                   const std::optional<Error>& refusal) {
  const std::vector<Device> devices = backend.LocalDevices();
  StartFacts own{
      .ranks = place.ranks, .digest = DigestOf(options), .host = devices.empty() ? "" : devices.front().host};
  Status possible = refusal ? Status(*refusal) : CheckRanks(options, place.ranks);
  if (possible.ok()) possible = CheckMatrix(options, place.ranks);
  if (!possible.ok()) own.refusal = possible.error().ToString();
  NCCL_TUNE_ASSIGN_OR_RETURN(texts, backend.Gather(StartToText(own)));
  const StartDecision judged = place.process == 0 ? JudgeStart(texts, options) : StartDecision{};
  NCCL_TUNE_ASSIGN_OR_RETURN(shared, backend.Broadcast(DecisionToText(judged)));
  return DecisionFromText(shared);
}

Result<std::vector<std::string>> GatherDevices(Backend& backend) {
  return backend.Gather(DevicesToText(backend.LocalDevices()));
}

Result<std::optional<std::uint64_t>> CutToMemory(Backend& backend, Options& options) {
  NCCL_TUNE_ASSIGN_OR_RETURN(memory, backend.Memory());
  const std::uint64_t largest = LargestSize(memory, options.checks > 0);
  if (options.sweep.max_bytes <= largest) return std::optional<std::uint64_t>();
  options.sweep.max_bytes = largest;
  options.sweep.min_bytes = std::min(options.sweep.min_bytes, largest);
  return std::optional(largest);
}

}  // namespace nccl_tune::bench
