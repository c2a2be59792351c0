// SPDX-License-Identifier: Apache-2.0
#include "bench/options.h"

#include <cstddef>
#include <utility>

#include "bench/flag_table.h"
#include "bench/option_checks.h"
#include "bench/option_variables.h"
#include "bench/search_options.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr const char* kHelpHint = "nccl-bench --help lists the options.";

// An argument taken apart: its flag, what stands as value in the same argument, and how it was written.
struct Written {
  const Flag* flag = nullptr;
  std::optional<std::string> value{};
  std::string name{};
};

Error Unknown(const std::string& name) {
  return Error{.code = Code::kInvalidInput, .what = "unknown option", .where = name, .hint = kHelpHint};
}

// The one flag of `origin` whose long name begins as `name` does; null for none, an Error for several.
Result<const Flag*> FindBeginning(const std::string& name, FlagOrigin origin) {
  const Flag* found = nullptr;
  std::string all;
  for (const Flag& flag : Flags()) {
    if (flag.origin != origin || !flag.name.starts_with(std::string_view(name).substr(2))) continue;
    found = all.empty() ? &flag : nullptr;
    all += (all.empty() ? "--" : ", --") + std::string(flag.name);
  }
  if (found != nullptr || all.empty()) return found;
  return Error{.code = Code::kInvalidInput, .what = "may be any of " + all, .where = name, .hint = kHelpHint};
}

// As getopt does: the whole name, else an unambiguous beginning. Our own flags are looked at last, so that a beginning
// that tells nccl-tests' flags apart still does.
Result<const Flag*> FindLong(const std::string& name) {
  for (const Flag& flag : Flags()) {
    if (std::string_view(name).substr(2) == flag.name) return &flag;
  }
  for (const FlagOrigin origin : {FlagOrigin::kNcclTests, FlagOrigin::kOwn}) {
    NCCL_TUNE_ASSIGN_OR_RETURN(flag, FindBeginning(name, origin));
    if (flag != nullptr) return flag;
  }
  return Unknown(name);
}

Result<const Flag*> FindShort(const std::string& name) {
  for (const Flag& flag : Flags()) {
    if (flag.letter != 0 && name[1] == flag.letter) return &flag;
  }
  return Unknown(name);
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
  NCCL_TUNE_ASSIGN_OR_RETURN(flag, is_long ? FindLong(written.name) : FindShort(written.name));
  written.flag = flag;
  return written;
}

Status Apply(const Written& written, Asked& asked) {
  const Status status = written.flag->set(asked, written.value.value_or(""));
  if (status.ok()) return status;
  Error error = status.error();
  error.where = written.name;
  return error;
}

// Fills `words` with the arguments that belong to no flag. Stops where help or the version is asked for.
Status ReadFlags(const std::vector<std::string>& arguments, Asked& asked, std::vector<std::string>& words) {
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& argument = arguments[at];
    if (argument == "--") {
      words.insert(words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
      return base::Ok();
    }
    if (argument.size() < 2 || argument[0] != '-') {
      words.push_back(argument);
      continue;
    }
    NCCL_TUNE_ASSIGN_OR_RETURN(written, TakeApart(argument));
    if (written.flag->value.empty()) {
      if (written.value) return Error{.code = Code::kInvalidInput, .what = "takes no value", .where = written.name};
    } else if (!written.value) {
      if (at + 1 == arguments.size()) {
        return Error{.code = Code::kInvalidInput,
                     .what = "needs a value: " + std::string(written.flag->value),
                     .where = written.name};
      }
      written.value = arguments[++at];
    }
    NCCL_TUNE_RETURN_IF_ERROR(Apply(written, asked));
    if (asked.options.mode != Mode::kMeasure) return base::Ok();
  }
  return base::Ok();
}

// "all_reduce" of "all_reduce_perf" and, as nccl-tests' NAME_SUFFIX makes it, "all_reduce_perf_mpi"; else nothing.
std::string_view BeforePerf(std::string_view name) {
  constexpr std::string_view kPerf = "_perf";
  const std::size_t at = name.rfind(kPerf);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = name.substr(at + kPerf.size());
  return rest.empty() || rest.starts_with('_') ? name.substr(0, at) : std::string_view();
}

Status SetCollective(std::string_view name, Options& options) {
  options.collective = FindCollective(name);
  if (options.collective != nullptr) return base::Ok();
  return Error{.code = Code::kInvalidInput,
               .what = "no collective of this name; there is " + CollectiveNames(),
               .where = std::string(name)};
}

// What the program's name and the words say: mode and collective.
Status ReadWords(std::string_view called, const std::vector<std::string>& words, Options& options) {
  std::size_t at = 0;
  if (const std::string_view name = BeforePerf(called); !name.empty()) {
    NCCL_TUNE_RETURN_IF_ERROR(SetCollective(name, options));
  } else {
    if (!words.empty() && words[0] == "pairs") options.mode = Mode::kPairs;
    if (!words.empty() && words[0] == "bisect") options.mode = Mode::kBisect;
    if (options.mode != Mode::kMeasure) ++at;
    if (at < words.size()) {
      const std::string& word = words[at++];
      const std::string_view before = BeforePerf(word);
      NCCL_TUNE_RETURN_IF_ERROR(SetCollective(before.empty() ? word : before, options));
    } else if (options.mode == Mode::kMeasure) {
      return Error{.code = Code::kInvalidInput,
                   .what = "no collective given; there is " + CollectiveNames(),
                   .hint = std::string("nccl-bench COLLECTIVE [options]; ") + kHelpHint};
    } else {
      options.names_no_collective = true;
      NCCL_TUNE_RETURN_IF_ERROR(SetCollective(options.mode == Mode::kPairs ? "sendrecv" : "all_reduce", options));
    }
  }
  if (at == words.size()) return base::Ok();
  return Error{.code = Code::kInvalidInput, .what = "belongs to no option", .where = words[at], .hint = kHelpHint};
}

}  // namespace

Result<Options> ParseOptions(std::string_view called, const std::vector<std::string>& arguments,
                             const base::Environment& environment) {
  Asked asked;
  std::vector<std::string> words;
  NCCL_TUNE_RETURN_IF_ERROR(ReadFlags(arguments, asked, words));
  if (asked.options.mode != Mode::kMeasure) return std::move(asked.options);
  NCCL_TUNE_RETURN_IF_ERROR(ReadWords(called, words, asked.options));
  NCCL_TUNE_RETURN_IF_ERROR(CheckFlags(asked));
  NCCL_TUNE_RETURN_IF_ERROR(ReadVariables(environment, asked.options));
  NCCL_TUNE_RETURN_IF_ERROR(SettleSearch(asked.options));
  return std::move(asked.options);
}

}  // namespace nccl_tune::bench
