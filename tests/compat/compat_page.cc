// SPDX-License-Identifier: Apache-2.0
#include "tests/compat/compat_page.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "bench/backend_choice.h"
#include "bench/collective.h"
#include "bench/flag_table.h"
#include "bench/option_variables.h"
#include "bench/options.h"

namespace nccl_tune::compat {
namespace {

using bench::Flag;
using bench::FlagOrigin;

// Lines of the page, without line ends.
constexpr std::string_view kHead[] = {
    "# nccl-bench beside nccl-tests",
    "",
    "Made from bench/flag_table.cc and tests/compat/compat_rows.cc by `bazel run //tests/compat:update_compat_page`; a "
    "test",
    "fails when this page is older than they are, or when a test that it names is not there.",
    "",
    "Each row names what shows it: a *unit* test, a test of real processes *over host memory*, and pairs of outputs "
    "*beside",
    "nccl-tests*, ours and nccl-tests' with the same flags on a GPU (tests/gpu/logs/compare/NAME.ours and "
    "NAME.theirs). A pair",
    "differs in nothing but what is measured and what *differs* says; tests/gpu/test_replay.py compares them again "
    "in each run",
    "of the tests.",
    "",
    "Compared with nccl-tests 2.19.6. Where *differs* is empty, both do the same. **nccl** is GPU memory over NCCL, "
    "**mpi**",
    "host memory over MPI. A flag that says nothing to host memory is left aside and told on stderr; the run goes on.",
    "",
    "## Everywhere",
    "",
    "- The command line is read as getopt reads it: `-b8`, `-b 8`, `--minbytes 8`, `--minbytes=8`, `--minb 8`; `--` "
    "ends the",
    "  flags; the last of equal flags counts. Numbers are decimal, hexadecimal after `0x` or octal after `0`.",
    "- What nccl-tests cuts off (`20x`), wraps around or replaces by a default is refused here, and so is a word that "
    "belongs",
    "  to no flag: one line on stderr that gives flag, value and what was expected, exit status 6, nothing started.",
    "- Exit statuses are nccl-tests' own, 0 to 7. Wrong use is always 6; nccl-tests ends with 255 for a bad value and "
    "with 0",
    "  for an unknown flag.",
    "- `nccl-bench NAME` and a link named `NAME_perf` are the same program.",
    "",
};

std::string HeadText() {
  std::string text;
  for (const std::string_view line : kHead) text += std::string(line) + "\n";
  return text;
}

std::string Row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    std::string escaped;
    for (const char c : cell) escaped += c == '|' ? "\\|" : std::string(1, c);
    line += " " + escaped + (escaped.empty() ? "|" : " |");
  }
  return line + "\n";
}

std::string Head(const std::vector<std::string>& cells) {
  std::string line = Row(cells) + "|";
  for (std::size_t at = 0; at < cells.size(); ++at) line += "---|";
  return line + "\n";
}

std::string TestCell(const TestName& test) { return std::string(test.file) + ": " + std::string(test.name); }

// "unit", "over host memory" and, where `pairs`, "beside nccl-tests".
void AppendTests(const Tests& tests, bool pairs, std::vector<std::string>* cells) {
  cells->push_back(TestCell(tests.unit));
  std::string host;
  for (const TestName& test : tests.host) {
    if (!test.file.empty()) host += (host.empty() ? "" : "; ") + TestCell(test);
  }
  cells->push_back(host);
  if (!pairs) return;
  std::string names(tests.pairs);
  for (std::size_t at = names.find(' '); at != std::string::npos; at = names.find(' ', at + 2)) {
    names.replace(at, 1, ", ");
  }
  cells->push_back(names);
}

bool HasDeviceKernels(bench::CollectiveKind kind) {
  return kind == bench::CollectiveKind::kAllReduce || kind == bench::CollectiveKind::kAlltoall;
}

std::string CollectivesTable() {
  std::string table = "## Collectives\n\n" + Head({"collective", "nccl", "mpi", "-o", "-r", "in place checked", "-D",
                                                   "differs", "unit", "over host memory", "beside nccl-tests"});
  for (const CollectiveRow& row : CollectiveRows()) {
    const bench::Collective* const one = bench::FindCollective(row.name);
    if (one == nullptr) continue;
    std::vector<std::string> cells = {std::string(row.name),
                                      "yes",
                                      "yes",
                                      one->lists_ops ? "each" : "",
                                      one->has_root ? "each" : "",
                                      one->checks_in_place ? "yes" : "N/A, as there",
                                      HasDeviceKernels(one->kind) ? "1 to 4" : "",
                                      std::string(row.differs)};
    AppendTests(row.tests, true, &cells);
    table += Row(cells);
  }
  return table + "\nTypes: all 12 of `-d`, fp8 where NCCL (2.24) and the GPU (9.0) have it.\n\n";
}

std::string FlagsTable(FlagOrigin origin) {
  const bool is_theirs = origin == FlagOrigin::kNcclTests;
  std::vector<std::string> names = {"flag", "default", "meaning"};
  if (is_theirs) names.emplace_back("differs");
  names.insert(names.end(), {"nccl", "mpi", "unit", "over host memory"});
  if (is_theirs) names.emplace_back("beside nccl-tests");
  std::string table = (is_theirs ? "## Flags of nccl-tests\n\n" : "## Flags that nccl-tests has not\n\n") + Head(names);
  for (const Flag& flag : bench::Flags()) {
    if (flag.origin != origin) continue;
    for (const FlagRow& row : FlagRows()) {
      if (row.name != flag.name) continue;
      std::string name = "`" + bench::FlagNames(flag);
      if (!flag.value.empty()) name += " " + std::string(flag.value);
      std::vector<std::string> cells = {name + "`", std::string(flag.standard), std::string(flag.help)};
      if (is_theirs) cells.emplace_back(row.differs);
      cells.insert(cells.end(), {"yes", MpiCell(row)});
      AppendTests(row.tests, is_theirs, &cells);
      table += Row(cells);
    }
  }
  return table + "\n";
}

std::string VariablesTable() {
  std::string table =
      "## Variables\n\nAn empty variable is as if it were not set.\n\n" +
      Head({"variable", "meaning", "differs", "nccl", "mpi", "unit", "over host memory", "beside nccl-tests"});
  for (const VariableRow& row : VariableRows()) {
    std::string value;
    std::string help;
    for (const bench::Variable& variable : bench::Variables()) {
      if (variable.name != row.name) continue;
      value = variable.value;
      help = variable.help;
    }
    std::vector<std::string> cells = {"`" + std::string(row.name) + "=" + value + "`", help, std::string(row.differs),
                                      std::string(row.nccl), std::string(row.mpi)};
    AppendTests(row.tests, true, &cells);
    table += Row(cells);
  }
  return table;
}

}  // namespace

std::string MpiCell(const FlagRow& row) {
  if (!row.mpi.empty()) return std::string(row.mpi);
  std::vector<std::string> arguments = {"all_reduce"};
  if (row.name == "device_implementation") arguments.insert(arguments.end(), {"-R", "2"});
  arguments.push_back("--" + std::string(row.name));
  if (!row.sample.empty()) arguments.emplace_back(row.sample);
  auto options = bench::ParseOptions("nccl-bench", arguments, {});
  if (!options.ok()) return options.error().ToString();
  const auto sentences = bench::LeaveAside(options.value());
  if (sentences.empty()) return "yes";
  // "-G 10: host memory has no CUDA graphs, measuring without it"
  const std::string& last = sentences.back();
  const std::size_t begin = std::min(last.find(": "), last.size() - 2) + 2;
  return "left aside: " + last.substr(begin, last.rfind(", ") - begin);
}

std::string CompatMarkdown() {
  return HeadText() + CollectivesTable() + FlagsTable(FlagOrigin::kNcclTests) + FlagsTable(FlagOrigin::kOwn) +
         VariablesTable();
}

}  // namespace nccl_tune::compat
