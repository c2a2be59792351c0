// SPDX-License-Identifier: Apache-2.0
#include "launcher/master_port.h"

#include <utility>

#include "base/parse_number.h"
#include "hw/local_ports.h"
#include "launcher/rank_variables.h"

namespace nccl_tune::launcher {
namespace {

constexpr const char* kMasterPort = "MASTER_PORT";

}  // namespace

base::Result<MasterPort> FindMasterPort(const RankFacts& facts, const base::Environment& environment,
                                        const hw::Tree& root, uid_t user, AtExec at_exec) {
  if (StaysTheUsers(facts, environment, kMasterPort)) {
    const std::string text = base::Lookup(environment, kMasterPort).value_or("");
    const auto port = base::ParseInteger<std::uint16_t>(text);
    if (port.ok() && *port != 0) return MasterPort{.port = *port};
    return base::Error{.code = base::Code::kInvalidInput,
                       .what = "no port",
                       .where = kMasterPort,
                       .seen = text,
                       .expected = "1 to 65535",
                       .hint = "Correct it, or leave it unset."};
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(range, ReadPortRange(environment));
  const std::uint16_t start = StartPort(range, facts.job, facts.step, user);
  NCCL_TUNE_ASSIGN_OR_RETURN(claim, ClaimPort(range, start, at_exec));
  const auto local = hw::ReadLocalPorts(root);
  std::string warning = local.ok() ? DescribeOverlap(range, local->first, local->last) : "";
  const std::uint16_t port = claim.port();
  return MasterPort{.port = port, .claim = std::move(claim), .warning = std::move(warning)};
}

}  // namespace nccl_tune::launcher
