// SPDX-License-Identifier: Apache-2.0
#include "tests/launcher/ranks_page.h"

#include <cstddef>
#include <string_view>

#include "launcher/rank_catalog.h"
#include "report/wrap.h"

namespace nccl_tune::launcher {
namespace {

constexpr std::size_t kColumns = 120;
constexpr std::size_t kLabel = 14;

constexpr std::string_view kIntroduction =
    R"(# The variables of a rank

Made from the table in `launcher/rank_catalog.cc` by `bazel run //tests/launcher:update_ranks_page`; a test fails when
this page is older than the table.

`nccl-launch` sets them for each rank before PROGRAM starts. A variable that the user has set stays, and
JAX_COORDINATOR_ADDRESS follows a MASTER_ADDR or MASTER_PORT that stays. What an outer launcher left in the environment
of a nested step is replaced or taken away: all of them under another step's nccl-launch (NCCL_TUNE_LAUNCH holds
another JOB.STEP), torchrun's where RANK, LOCAL_RANK and WORLD_SIZE are all set and do not fit the task or
TORCHELASTIC_RUN_ID is beside them, mpirun's where OMPI_COMM_WORLD_RANK, _LOCAL_RANK and _SIZE do not fit. What says
that it comes from PMIx comes from SLURM_* where a job has no PMIx.

)";

constexpr std::string_view kPort =
    R"(
## The claim on MASTER_PORT

Rank 0 takes the first port of NCCL_TUNE_PORT_RANGE (`FIRST-LAST`, default 20000-28000; choose one outside
net.ipv4.ip_local_port_range, or any connection of the node may take the port first) that it can claim and bind. The
claim is an abstract Unix socket named `nccl-tune-master-port-PORT`, one name for all users of a node; like TCP ports,
these names belong to a network namespace. Under `--exec` its descriptor stays open in rank 0's PROGRAM, the only one
that nccl-launch leaves, numbered 100 or more, until the last process that inherited it ends: until then no other
nccl-launch on the node takes the port, even if PROGRAM has not listened on it yet. A supervisor holds it itself.

Where no port is left, the message counts those that are claimed, by which users, and those in use. With MASTER_PORT
set by the user nothing is claimed or looked for.
)";

std::string Line(std::string_view label, std::string_view text) {
  return report::Wrap("    " + std::string(label), kLabel, text, kColumns);
}

std::string VariableText(const RankVariable& variable) {
  return std::string(variable.name) + "\n" + Line("meaning", variable.meaning) + Line("value", variable.computed) +
         Line("read by", variable.read_by) + Line("source", variable.source);
}

}  // namespace

std::string RanksMarkdown() {
  std::string out(kIntroduction);
  out += "## Variables\n\n```\n";
  bool first = true;
  for (const auto& variable : RankVariables()) {
    out += (first ? "" : "\n") + VariableText(variable);
    first = false;
  }
  out += "```\n\n## Who reads what\n\n| program | reads |\n|---|---|\n";
  for (const auto& reader : RankReaders()) {
    out += "| " + std::string(reader.program) + " | " + std::string(reader.reads) + " |\n";
  }
  out += kPort;
  out += "\n## Variables that nccl-launch does not set\n\n```\n";
  first = true;
  for (const auto& left : RankVariablesLeftAlone()) {
    out +=
        (first ? "" : "\n") + std::string(left.variables) + "\n" + Line("why", left.why) + Line("source", left.source);
    first = false;
  }
  return out + "```\n";
}

}  // namespace nccl_tune::launcher
