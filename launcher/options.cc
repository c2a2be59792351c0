// SPDX-License-Identifier: Apache-2.0
#include "launcher/options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"
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

Error BadValue(const std::string& name, const std::string& text, const std::string& what, const std::string& expected) {
  return Error{.code = Code::kInvalidInput, .what = what, .where = name, .seen = text, .expected = expected};
}

Result<std::chrono::milliseconds> ParseTime(const std::string& name, const std::string& text) {
  constexpr double kLongest = 30 * 86'400;
  const auto seconds = base::ParseDecimal(text);
  if (!seconds.ok() || *seconds <= 0 || *seconds > kLongest) {
    return BadValue(name, text, "not a time", "seconds, more than 0 and at most 2592000 (30 days)");
  }
  return std::chrono::milliseconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(*seconds * 1000 + 0.5)));
}

Status SetTime(const std::string& name, const std::string& text, std::chrono::milliseconds* to) {
  NCCL_TUNE_ASSIGN_OR_RETURN(time, ParseTime(name, text));
  *to = time;
  return base::Ok();
}

Status SetStartTimeout(Options& options, const std::string& text) {
  return SetTime("--start-timeout", text, &options.start_limit);
}

Status SetPreflightTimeout(Options& options, const std::string& text) {
  return SetTime("--preflight-timeout", text, &options.preflight_limit);
}

Status SetGrace(Options& options, const std::string& text) {
  if (text == "0") {
    options.grace = std::chrono::milliseconds(0);
    return base::Ok();
  }
  return SetTime("--grace", text, &options.grace);
}

Status SetTimeout(Options& options, const std::string& text) {
  return SetTime("--timeout", text, &options.timeout.emplace());
}

Status SetNoOutputTimeout(Options& options, const std::string& text) {
  return SetTime("--no-output-timeout", text, &options.no_output.emplace());
}

Status SetCheck(Options& options, const std::string&) {
  options.mode = Mode::kCheck;
  return base::Ok();
}

Status SetExec(Options& options, const std::string&) {
  options.exec = true;
  return base::Ok();
}

Status SetOwnGpu(Options& options, const std::string&) {
  options.own_gpu = true;
  return base::Ok();
}

Status SetTagOutput(Options& options, const std::string&) {
  options.tag_output = true;
  return base::Ok();
}

Status SetLogDir(Options& options, const std::string& text) {
  if (text.empty()) return BadValue("--log-dir", text, "not a folder", "its path");
  options.log_dir = text;
  return base::Ok();
}

Status SetProcsPerNode(Options& options, const std::string& text) {
  constexpr std::uint32_t kMost = 4096;
  if (text == "gpu") {
    options.procs_per_node = 0;
    return base::Ok();
  }
  const auto count = base::ParseInteger<std::uint32_t>(text);
  if (!count.ok() || *count == 0 || *count > kMost) {
    return BadValue("--procs-per-node", text, "not a number of ranks", "a number from 1 to 4096, or gpu");
  }
  options.procs_per_node = *count;
  return base::Ok();
}

Status SetBind(Options& options, const std::string& text) {
  if (text != "none" && text != "numa" && text != "gpu") {
    return BadValue("--bind", text, "not a way to bind", "gpu, numa or none");
  }
  options.bind = text == "none" ? BindMode::kNone : text == "numa" ? BindMode::kNuma : BindMode::kGpu;
  return base::Ok();
}

Status SetPreflight(Options& options, const std::string& text) {
  if (text != "off" && text != "warn" && text != "fail") {
    return BadValue("--preflight", text, "not a kind of preflight", "off, warn or fail");
  }
  options.preflight = text == "off"    ? PreflightMode::kOff
                      : text == "warn" ? PreflightMode::kWarn
                                       : PreflightMode::kFail;
  return base::Ok();
}

Status AddRequeue(const std::string& word, const std::string& text, RequeueOn* on) {
  constexpr std::string_view kExit = "exit:";
  if (word == "node") {
    on->node = true;
  } else if (word == "hang") {
    on->hang = true;
  } else if (word == "timeout") {
    on->timeout = true;
  } else if (word == "signal") {
    on->signal = true;
  } else {
    const auto code = base::ParseInteger<int>(word.starts_with(kExit) ? word.substr(kExit.size()) : "");
    if (!code.ok() || *code < 1 || *code > 255) {
      return BadValue("--requeue-on", text, "not a list of failures",
                      "node, hang, timeout, signal, exit:CODE (1 to 255), with commas between");
    }
    on->exit_codes.push_back(*code);
  }
  return base::Ok();
}

Status SetRequeueOn(Options& options, const std::string& text) {
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    NCCL_TUNE_RETURN_IF_ERROR(AddRequeue(text.substr(start, end - start), text, &options.requeue_on));
    start = end + 1;
  }
  return base::Ok();
}

struct Option {
  std::string_view name;
  std::string_view value;  // its name in the help; empty: takes none
  std::string_view help;
  Status (*set)(Options&, const std::string&);
  bool needs_parent = false;  // not together with --exec
};

constexpr std::array<Option, 17> kOptions = {{
    {"--help", "", "print this and end", SetHelp},
    {"--version", "", "print the version and end", SetVersion},
    {"--verbose", "", "rank 0 prints the ranks, and the plan of each node, to stderr", SetVerbose},
    {"--check", "", "compare the nodes, say what differs, and end; takes no PROGRAM", SetCheck},
    {"--preflight", "off|warn|fail", "compare the nodes before the start (warn)", SetPreflight},
    {"--preflight-timeout", "SECONDS", "how long the comparison may take (10)", SetPreflightTimeout},
    {"--start-timeout", "SECONDS", "how long to wait for all ranks to arrive (60)", SetStartTimeout},
    {"--exec", "", "the task becomes PROGRAM: no parent, no report of a failure", SetExec},
    {"--procs-per-node", "N|gpu", "each task, one a node, starts N ranks, or one a GPU", SetProcsPerNode, true},
    {"--bind", "gpu|numa|none", "CPUs and memory of each rank near its GPU, or spread (none)", SetBind},
    {"--own-gpu", "", "each rank sees its own GPU only", SetOwnGpu},
    {"--log-dir", "DIR", "keep what each rank writes in a file of its own too", SetLogDir, true},
    {"--tag-output", "", "put the rank before each line", SetTagOutput, true},
    {"--grace", "SECONDS", "from SIGTERM to SIGKILL when the ranks are ended (20)", SetGrace, true},
    {"--timeout", "SECONDS", "end the ranks after this time, with status 124", SetTimeout, true},
    {"--no-output-timeout", "SECONDS", "call it a hang when no rank wrote anything for this time; 124",
     SetNoOutputTimeout, true},
    {"--requeue-on", "LIST", "requeue the job after node, hang, timeout, signal or exit:CODE", SetRequeueOn, true},
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
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string_view> names;
  for (const Option& option : kOptions) names.push_back(option.name);
  const std::string_view near = base::Nearest(name, names);
  if (!near.empty()) {
    return Error{.code = Code::kInvalidInput,
                 .what = "unknown option",
                 .where = argument,
                 .hint = "Did you mean " + std::string(near) + "?"};
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

Result<Options> CheckOptions(const std::vector<std::string>& arguments, std::size_t at, Options options) {
  if (at < arguments.size()) {
    return Error{.code = Code::kInvalidInput,
                 .what = "takes no PROGRAM",
                 .where = "--check",
                 .hint = "srun --mpi=pmix nccl-launch --check, and then the run itself as a step of its own"};
  }
  if (options.preflight == PreflightMode::kOff) {
    return Error{
        .code = Code::kInvalidInput, .what = "compares the nodes, and --preflight=off does not", .where = "--check"};
  }
  return options;
}

}  // namespace

Result<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  std::string needs_parent;
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at] != "--") {
    const Option* option = Find(std::string_view(arguments[at]).substr(0, arguments[at].find('=')));
    if (option != nullptr && option->needs_parent) needs_parent = option->name;
    NCCL_TUNE_ASSIGN_OR_RETURN(next, ReadOption(arguments, at, options));
    at = next;
    if (options.mode == Mode::kHelp || options.mode == Mode::kVersion) return options;
  }
  if (options.exec && !needs_parent.empty()) {
    return Error{.code = Code::kInvalidInput,
                 .what = "needs a parent of PROGRAM, which --exec does without",
                 .where = needs_parent,
                 .hint = "Leave one of both out."};
  }
  if (options.mode == Mode::kCheck) return CheckOptions(arguments, at, std::move(options));
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
      "       srun --mpi=pmix nccl-launch --check\n\n"
      "Gives each rank of a Slurm step the variables that distributed programs read (RANK, WORLD_SIZE, MASTER_ADDR "
      "and\n"
      "many more, unless the user has set them), compares the nodes, starts PROGRAM, and names the first failure.\n\n";
  for (const Option& option : kOptions) {
    std::string left = "  " + std::string(option.name);
    if (!option.value.empty()) left += " " + std::string(option.value);
    constexpr std::size_t kColumn = 31;
    left.resize(kColumn, ' ');
    text += left + std::string(option.help) + "\n";
  }
  return text +
         "\nExit status: PROGRAM's; 124 ended by a time limit of ours, 125 nccl-launch failed or was used wrongly,\n"
         "126 PROGRAM cannot be executed, 127 PROGRAM not found.\n";
}

}  // namespace nccl_tune::launcher
