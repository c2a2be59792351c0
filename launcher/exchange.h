// SPDX-License-Identifier: Apache-2.0
//
// The one exchange between the ranks: what each is and where rank 0 is found.
//
// Threads: called by one thread. On an Error the step cannot go on; the caller prints it and aborts the session.
#ifndef NCCL_TUNE_LAUNCHER_EXCHANGE_H_
#define NCCL_TUNE_LAUNCHER_EXCHANGE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "launcher/entry.h"
#include "pmix/session.h"
#include "pmix/step.h"

namespace nccl_tune::launcher {

// The entries of all ranks, indexed by rank, the same for every rank: all conclude the same from them. kTimeout when a
// rank does not arrive within `deadline`; kNotFound names the ranks that left no entry. `port` is rank 0's to offer.
base::Result<std::vector<Entry>> ExchangeEntries(pmix::Session& session, const pmix::Step& step,
                                                 const base::Environment& environment,
                                                 std::optional<std::uint16_t> port, std::chrono::milliseconds deadline);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_EXCHANGE_H_
