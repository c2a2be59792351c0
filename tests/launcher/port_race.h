// SPDX-License-Identifier: Apache-2.0
//
// Processes that take MASTER_PORT from one small range at once, round after round, as rank 0 of as many steps would.
#ifndef NCCL_TUNE_TESTS_LAUNCHER_PORT_RACE_H_
#define NCCL_TUNE_TESTS_LAUNCHER_PORT_RACE_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "launcher/port_claim.h"

namespace nccl_tune::tests {

struct Race {
  launcher::PortRange range{};
  std::uint32_t processes = 8;
  std::uint32_t rounds = 1;
  std::array<uid_t, 2> users{};  // every other process is the second one's
  launcher::Claimer claimer = launcher::BindClaim;
};

struct RaceResult {
  std::uint32_t listened = 0;    // ports that were found and then listened on
  std::uint32_t collisions = 0;  // ports that were found, but that another process had taken by then
  std::uint32_t exhausted = 0;   // no port was found
  std::string failure{};         // what else went wrong, of one process
};

// Each process finds a port, listens on it up to 3 ms later, and gives it back when all have done so. Fails when a
// process cannot be made or dies.
base::Result<RaceResult> RunRace(const Race& race);

// A claim that keeps nobody away: what was there before there were claims.
base::Result<int> ClaimNothing(std::uint16_t port);

}  // namespace nccl_tune::tests

#endif  // NCCL_TUNE_TESTS_LAUNCHER_PORT_RACE_H_
