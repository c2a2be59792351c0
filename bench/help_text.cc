// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "bench/flag_table.h"
#include "bench/option_variables.h"
#include "bench/options.h"
#include "report/wrap.h"

namespace nccl_tune::bench {
namespace {

constexpr std::size_t kColumns = 120;
constexpr std::size_t kIndent = 42;

std::string Entry(std::string_view name, std::string_view value, const std::string& help) {
  std::string label = "  " + std::string(name);
  if (!value.empty()) label += " " + std::string(value);
  return report::Wrap(label, kIndent, help, kColumns);
}

std::string FlagLines(FlagOrigin origin) {
  std::string lines;
  for (const Flag& flag : Flags()) {
    if (flag.origin != origin) continue;
    const std::string standard = flag.standard.empty() ? "" : " (" + std::string(flag.standard) + ")";
    lines += Entry(FlagNames(flag), flag.value, std::string(flag.help) + standard);
  }
  return lines;
}

std::string VariableLines() {
  std::string lines;
  for (const Variable& variable : Variables())
    lines += Entry(variable.name, variable.value, std::string(variable.help));
  return lines;
}

}  // namespace

std::string HelpText() {
  return "usage: nccl-bench COLLECTIVE [options]\n"
         "       nccl-bench pairs [COLLECTIVE] [options]\n"
         "       nccl-bench bisect [COLLECTIVE] [options]\n"
         "       COLLECTIVE_perf [options]\n\n"
         "Measures a collective between the tasks of a Slurm step, as nccl-tests does, over NCCL or, without GPUs, "
         "over\n"
         "MPI. pairs and bisect look for slow nodes: all pairs of nodes (sendrecv), or ever smaller groups "
         "(all_reduce),\n"
         "at 64M or the size that -b and -e give. Start it with:\n\n"
         "  srun --mpi=pmix nccl-bench all_reduce -b 8 -e 64M -f 2\n\n" +
         report::Wrap("COLLECTIVE:", 12, CollectiveNames(), kColumns) + "\nOptions of nccl-tests:\n" +
         FlagLines(FlagOrigin::kNcclTests) + "\nOptions of nccl-bench:\n" + FlagLines(FlagOrigin::kOwn) +
         "\nEnvironment:\n" + VariableLines() +
         "\nNumbers may be decimal, hexadecimal after 0x or octal after 0. Unknown options and any other wrong use "
         "end\n"
         "with 6 (nccl-tests: 0 or 255), before anything starts.\n\n"
         "Exit status: 0 measured; 1 failed, also in MPI; 2 failed in CUDA; 3 failed in NCCL; 4 out of time (-T); 5 "
         "not\n"
         "implemented; 6 wrong use, or a result file that cannot be made; 7 wrong data, less than NCCL_TESTS_MIN_BW "
         "or\n"
         "--min-busbw ask for, or something slow that a search or --per-rail names.\n";
}

}  // namespace nccl_tune::bench
