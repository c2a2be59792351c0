// SPDX-License-Identifier: Apache-2.0
#include "bench/options.h"

#include <algorithm>

#include "base/parse_number.h"
#include "bench/flag_table.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Environment;
using base::Error;
using base::Result;
using base::Status;

constexpr std::string_view kSuffix = "_perf";

// An argument taken apart: its flag, what stands as value in the same argument, and how it was written.
struct Written {
  const Flag* flag = nullptr;
  std::optional<std::string> value{};
  std::string name{};
};

std::string ValidFlags() {
  std::string names;
  for (const Flag& flag : Flags()) {
    if (flag.set != nullptr) names += (names.empty() ? "" : "; ") + FlagNames(flag);
  }
  return names;
}

Result<Written> TakeApart(const std::string& argument) {
  Written written;
  const bool is_long = argument.starts_with("--");
  if (is_long) {
    const std::size_t equals = argument.find('=');
    written.name = argument.substr(0, equals);
    if (equals != std::string::npos) written.value = argument.substr(equals + 1);
  } else {
    written.name = argument.substr(0, 2);
    if (argument.size() > 2) written.value = argument.substr(2);
  }
  for (const Flag& flag : Flags()) {
    const bool same = is_long ? written.name.substr(2) == flag.name
                              : argument.size() > 1 && argument[0] == '-' && argument[1] == flag.letter;
    if (same) written.flag = &flag;
  }
  if (written.flag == nullptr) {
    return Error{.code = Code::kInvalidInput, .what = "unknown option; valid are " + ValidFlags(), .where = argument};
  }
  return written;
}

Status Apply(const Written& written, const std::string& value, Options& options) {
  if (written.flag->set == nullptr) {
    if (!written.flag->standard.empty() && value == written.flag->standard) return base::Ok();
    return Error{.code = Code::kUnsupported, .what = "not yet available", .where = written.name, .seen = value};
  }
  const Status status = written.flag->set(options, value);
  if (status.ok()) return status;
  Error error = status.error();
  error.where = written.name;
  return error;
}

Status ReadFlags(const std::vector<std::string>& arguments, std::size_t at, Options& options) {
  while (at < arguments.size()) {
    NCCL_TUNE_ASSIGN_OR_RETURN(written, TakeApart(arguments[at]));
    ++at;
    if (written.flag->value.empty()) {
      if (written.value) return Error{.code = Code::kInvalidInput, .what = "takes no value", .where = written.name};
    } else if (!written.value) {
      if (at == arguments.size()) {
        return Error{.code = Code::kInvalidInput,
                     .what = "needs a value: " + std::string(written.flag->value),
                     .where = written.name};
      }
      written.value = arguments[at++];
    }
    NCCL_TUNE_RETURN_IF_ERROR(Apply(written, written.value.value_or(""), options));
    if (options.mode != Mode::kMeasure) return base::Ok();
  }
  return base::Ok();
}

// Sets the collective; the index of the first argument that is a flag.
Result<std::size_t> ReadCollective(std::string_view called, const std::vector<std::string>& arguments,
                                   Options& options) {
  std::string name;
  std::size_t next = 0;
  if (called.ends_with(kSuffix)) {
    name = called.substr(0, called.size() - kSuffix.size());
  } else if (!arguments.empty() && !arguments[0].starts_with("-")) {
    name =
        arguments[0].ends_with(kSuffix) ? arguments[0].substr(0, arguments[0].size() - kSuffix.size()) : arguments[0];
    next = 1;
  } else {
    return next;  // --help needs none
  }
  options.collective = FindCollective(name);
  if (options.collective != nullptr) return next;
  const bool known = IsKnownCollective(name);
  return Error{
      .code = known ? Code::kUnsupported : Code::kInvalidInput,
      .what = (known ? "not yet available" : "no collective of this name") + ("; there is " + CollectiveNames()),
      .where = name};
}

Status ReadLeastBandwidth(const Environment& environment, Options& options) {
  const auto text = base::Lookup(environment, "NCCL_TESTS_MIN_BW");
  if (!text || text->empty()) return base::Ok();
  const auto number = base::ParseDecimal(*text);
  if (!number.ok() || *number < 0) {
    return Error{.code = Code::kInvalidInput,
                 .what = "bad value",
                 .where = "NCCL_TESTS_MIN_BW",
                 .seen = *text,
                 .expected = "GB/s"};
  }
  options.least_bandwidth = *number;
  return base::Ok();
}

Status ReadCorruption(const Environment& environment, Options& options) {
  const auto text = base::Lookup(environment, "NCCL_BENCH_TEST_CORRUPT");
  if (!text) return base::Ok();
  const std::string_view whole = *text;
  const std::size_t colon = std::min(whole.find(':'), whole.size());
  const auto rank = base::ParseInteger<std::uint64_t>(whole.substr(0, colon));
  const auto offset = base::ParseInteger<std::uint64_t>(whole.substr(std::min(colon + 1, whole.size())));
  if (!rank.ok() || !offset.ok()) {
    return Error{.code = Code::kInvalidInput,
                 .what = "bad value",
                 .where = "NCCL_BENCH_TEST_CORRUPT",
                 .seen = *text,
                 .expected = "RANK:OFFSET"};
  }
  options.corruption = Corruption{.rank = *rank, .offset = *offset};
  return base::Ok();
}

}  // namespace

Result<Options> ParseOptions(std::string_view called, const std::vector<std::string>& arguments,
                             const Environment& environment) {
  Options options;
  NCCL_TUNE_ASSIGN_OR_RETURN(next, ReadCollective(called, arguments, options));
  NCCL_TUNE_RETURN_IF_ERROR(ReadFlags(arguments, next, options));
  if (options.mode != Mode::kMeasure) return options;
  if (options.collective == nullptr) {
    return Error{.code = Code::kInvalidInput,
                 .what = "no collective given; there is " + CollectiveNames(),
                 .hint = "nccl-bench COLLECTIVE [options]; --help lists the options."};
  }
  NCCL_TUNE_RETURN_IF_ERROR(CheckSweep(options.sweep));
  NCCL_TUNE_RETURN_IF_ERROR(ReadLeastBandwidth(environment, options));
  NCCL_TUNE_RETURN_IF_ERROR(ReadCorruption(environment, options));
  return options;
}

std::string HelpText() {
  std::string text =
      "usage: nccl-bench COLLECTIVE [options]\n\n"
      "Measures a collective between the tasks of a Slurm step, as nccl-tests does, over NCCL or, without GPUs, over\n"
      "MPI. Start it with: srun --mpi=pmix nccl-bench all_reduce -b 8 -e 64M -f 2\n\nCOLLECTIVE: " +
      CollectiveNames() + "\n\n";
  std::string later;
  for (const Flag& flag : Flags()) {
    if (flag.set == nullptr) {
      later += (later.empty() ? "" : "; ") + FlagNames(flag);
      continue;
    }
    std::string left = "  " + FlagNames(flag);
    if (!flag.value.empty()) left += " " + std::string(flag.value);
    left.resize(std::max<std::size_t>(left.size(), 26), ' ');
    text += left + " " + std::string(flag.help);
    if (!flag.standard.empty()) text += " (" + std::string(flag.standard) + ")";
    text += "\n";
  }
  return text + "\nNot yet available: " + later +
         "\n\nExit status: 0 measured, 1 failed, 2 a CUDA failure, 3 an NCCL failure, 6 wrong use, 7 wrong data or "
         "less\n"
         "than nine tenths of NCCL_TESTS_MIN_BW.\n";
}

}  // namespace nccl_tune::bench
