// SPDX-License-Identifier: Apache-2.0
#include "launcher/options.h"

#include <array>
#include <string_view>

#include "base/parse_number.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

Status SetHelp(Options& options, const std::string&) {
  options.mode = Mode::kHelp;
  return base::Ok();
}

Status SetVersion(Options& options, const std::string&) {
  options.mode = Mode::kVersion;
  return base::Ok();
}

Status SetVerbose(Options& options, const std::string&) {
  options.verbose = true;
  return base::Ok();
}

Status SetTimeout(Options& options, const std::string& text) {
  constexpr double kLongest = 86'400;
  const auto seconds = base::ParseDecimal(text);
  if (!seconds.ok() || *seconds <= 0 || *seconds > kLongest) {
    return Error{.code = Code::kInvalidInput,
                 .what = "not a time",
                 .where = "--timeout",
                 .seen = text,
                 .expected = "seconds, more than 0 and at most 86400"};
  }
  options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000 + 0.5));
  return base::Ok();
}

struct Option {
  std::string_view name;
  std::string_view value;  // its name in the help; empty: takes none
  std::string_view help;
  Status (*set)(Options&, const std::string&);
};

constexpr std::array<Option, 4> kOptions = {{
    {"--help", "", "print this and end", SetHelp},
    {"--version", "", "print the version and end", SetVersion},
    {"--verbose", "", "rank 0 prints the ranks, and the plan of each node, to stderr", SetVerbose},
    {"--timeout", "SECONDS", "how long to wait for all ranks to arrive (60)", SetTimeout},
}};

std::string Names() {
  std::string names;
  for (const Option& option : kOptions) names += (names.empty() ? "" : ", ") + std::string(option.name);
  return names;
}

const Option* Find(std::string_view name) {
  for (const Option& option : kOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

Error UnknownArgument(const std::string& argument) {
  if (!argument.starts_with("-")) {
    return Error{.code = Code::kInvalidInput,
                 .what = "is no option; PROGRAM and its arguments stand after --",
                 .where = argument,
                 .hint = "nccl-launch [options] -- PROGRAM ARGS"};
  }
  return Error{.code = Code::kInvalidInput, .what = "unknown option; valid are " + Names(), .where = argument};
}

// Handles arguments[at] and, for "--name VALUE", the next one; the index of the next argument to read.
Result<std::size_t> ReadOption(const std::vector<std::string>& arguments, std::size_t at, Options& options) {
  const std::string& argument = arguments[at];
  const std::size_t equals = argument.find('=');
  const Option* option = Find(std::string_view(argument).substr(0, equals));
  if (option == nullptr) return UnknownArgument(argument);
  std::string value;
  if (equals != std::string::npos) {
    if (option->value.empty()) {
      return Error{.code = Code::kInvalidInput, .what = "takes no value", .where = argument};
    }
    value = argument.substr(equals + 1);
  } else if (!option->value.empty()) {
    if (++at == arguments.size() || arguments[at] == "--") {
      return Error{
          .code = Code::kInvalidInput, .what = "needs a value: " + std::string(option->value), .where = argument};
    }
    value = arguments[at];
  }
  NCCL_TUNE_RETURN_IF_ERROR(option->set(options, value));
  return at + 1;
}

}  // namespace

Result<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at] != "--") {
    NCCL_TUNE_ASSIGN_OR_RETURN(next, ReadOption(arguments, at, options));
    at = next;
    if (options.mode != Mode::kLaunch) return options;
  }
  if (at < arguments.size())
    options.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
  if (options.program.empty() || options.program.front().empty()) {
    return Error{.code = Code::kInvalidInput,
                 .what = "no program to run: it stands after --",
                 .hint = "srun --mpi=pmix nccl-launch [options] -- PROGRAM ARGS"};
  }
  return options;
}

std::string HelpText() {
  std::string text =
      "usage: srun --mpi=pmix nccl-launch [options] -- PROGRAM ARGS\n\n"
      "Gives each task of a Slurm step the variables RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, NODE_RANK,\n"
      "GROUP_RANK, MASTER_ADDR and MASTER_PORT, unless the user has set them, and becomes PROGRAM.\n\n";
  for (const Option& option : kOptions) {
    std::string left = "  " + std::string(option.name);
    if (!option.value.empty()) left += " " + std::string(option.value);
    left.resize(22, ' ');
    text += left + std::string(option.help) + "\n";
  }
  return text +
         "\nExit status: PROGRAM's; 2 wrong use, 125 nccl-launch failed, 126 PROGRAM cannot be executed,\n"
         "127 PROGRAM not found.\n";
}

}  // namespace nccl_tune::launcher
