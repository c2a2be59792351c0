// SPDX-License-Identifier: Apache-2.0
//
// Exchanges without a PMIx server: the ranks are threads of one process. For tests and simulations only.
//
// Threads: each member is used by one thread; the board between them is guarded. Ownership: members share the board and
// may outlive one another.
#ifndef NCCL_TUNE_PMIX_STAND_IN_H_
#define NCCL_TUNE_PMIX_STAND_IN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "pmix/exchange.h"

namespace nccl_tune::pmix {

// One for each rank of a name space of `size`. A member that is destroyed or aborted without taking part in a fence
// leaves the others waiting until their deadline, as a dead task does in Slurm.
std::vector<std::unique_ptr<Exchange>> MakeStandIns(std::uint32_t size);

}  // namespace nccl_tune::pmix

#endif  // NCCL_TUNE_PMIX_STAND_IN_H_
