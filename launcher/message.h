// SPDX-License-Identifier: Apache-2.0
//
// What launchers tell each other over their channels, one line of JSON each. Pure. A message of a wrong form is an
// Error and the channel it came by is closed: both ends are the same program.
#ifndef NCCL_TUNE_LAUNCHER_MESSAGE_H_
#define NCCL_TUNE_LAUNCHER_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launcher/failure.h"

namespace nccl_tune::launcher {

// No rank.
constexpr std::uint32_t kNobody = 0xffffffff;

enum class Role {
  kTree,   // to the parent, from a child
  kRing,   // a probe only
  kLocal,  // from another task of the same node to its first
};

// What a node found while the tree was made.
struct Problem {
  enum class Kind {
    kProbe,    // `from` could not reach `to` at `address`
    kMissing,  // rank of `from` that never came
    kOdd,      // rank of `from` with other NCCL settings than its node's first
  };
  Kind kind = Kind::kProbe;
  std::string from{};
  std::string to{};
  std::string address{};
  std::string reason{};
  std::uint32_t rank = 0;
};

struct Message {
  enum class Kind {
    kHello,   // first of each side: role, node, rank, token; from a local task also its digest
    kReady,   // up: this part of the tree stands; problems
    kFailed,  // up: end
    kLost,    // up: names of nodes whose launcher went away
    kSilent,  // up: nothing of this part of the tree wrote anything for the time that the user set
    kLoud,    // up: no longer so
    kState,   // up: states
    kDone,    // up: nothing of this part of the tree runs any more
    kLook,    // down: send the states of the ranks
    kEnd,     // down: end the ranks and exit with `status`, but the one that failed first, `rank`, as it ended
  };
  Kind kind = Kind::kHello;
  Role role = Role::kTree;
  std::uint32_t node = 0;
  std::uint32_t rank = 0;
  std::string token{};
  std::string digest{};
  std::vector<Problem> problems{};
  std::uint32_t more_problems = 0;  // left out, so that a line stays in its bound
  std::optional<RankEnd> end{};
  std::vector<std::string> lost{};
  std::vector<RankState> states{};
  int status = 0;
};

std::string EncodeMessage(const Message& message);
base::Result<Message> DecodeMessage(std::string_view line);

// At most what fits a line.
constexpr std::size_t kMostProblems = 64;
constexpr std::size_t kMostStates = 64;
// Adds what is in `more` and counts what no longer fits.
void AddProblems(const Message& more, Message* to);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_MESSAGE_H_
