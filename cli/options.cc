// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace nccl_tune::cli {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

struct CommandName {
  std::string_view name;
  Command command;
  std::string_view formats;  // first: the default
};
constexpr std::array<CommandName, 6> kCommands = {{
    {"facts", Command::kFacts, "text|json"},
    {"env", Command::kEnv, "shell|json|conf"},
    {"explain", Command::kExplain, "text|json"},
    {"capture", Command::kCapture, ""},
    {"check-policy", Command::kCheckPolicy, ""},
    {"doctor", Command::kDoctor, ""},
}};
constexpr std::string_view kCommandList = "facts, env, explain, capture, check-policy or doctor";

struct FormatName {
  std::string_view name;
  Format format;
};
constexpr std::array<FormatName, 4> kFormats = {{
    {"text", Format::kText},
    {"json", Format::kJson},
    {"shell", Format::kShell},
    {"conf", Format::kConf},
}};

Error Invalid(std::string what, std::string seen, std::string expected) {
  return {.code = Code::kInvalidInput,
          .what = std::move(what),
          .seen = std::move(seen),
          .expected = std::move(expected),
          .hint = "Try: nccl-tune --help"};
}

bool Lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const auto bar = list.find('|');
    if (list.substr(0, bar) == name) return true;
    list.remove_prefix(bar == std::string_view::npos ? list.size() : bar + 1);
  }
  return false;
}

Format FindFormat(std::string_view name) {
  const auto found =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const FormatName& f) { return f.name == name; });
  return found == kFormats.end() ? Format::kText : found->format;
}

// The words after the command, taken one by one.
class Words {
 public:
  explicit Words(const std::vector<std::string>& words) : words_(words) {}
  bool Empty() const { return next_ == words_.size(); }
  const std::string& Take() { return words_[next_++]; }

 private:
  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
};

struct Option {
  std::string name;
  std::optional<std::string> value;  // with --name=VALUE
};

Option SplitOption(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) return {.name = word, .value = std::nullopt};
  return {.name = word.substr(0, equals), .value = word.substr(equals + 1)};
}

Status Apply(const std::string& name, std::string value, const CommandName& command, Options* out) {
  if (name == "--root") {
    if (value.empty()) return Invalid("--root without a folder", "", "a folder with sys/ below it");
    out->root = std::move(value);
  } else if (name == "--host") {
    if (value.empty()) return Invalid("--host without a file", "", "a capture of a machine");
    out->host = std::move(value);
  } else if (name == "--node-addr") {
    out->node_addr_given = true;
    out->node_addr.reset();
    if (value.empty()) return base::Ok();
    auto address = facts::ParseIpAddress(value);
    if (!address.ok())
      return Invalid("--node-addr is no address", value, "an IPv4 or IPv6 address, or nothing for none known");
    out->node_addr = *address;
  } else if (name == "--policy") {
    if (value.empty()) return Invalid("--policy without a file", "", "a site policy; docs/site-policy.md");
    out->site_policy = std::move(value);
  } else {
    if (!Lists(command.formats, value)) {
      return Invalid("unknown format for " + std::string(command.name), value,
                     command.formats.empty() ? "no --format" : std::string(command.formats));
    }
    out->format = FindFormat(value);
  }
  return base::Ok();
}

// A word that is no option: the file of a command that takes one.
Status TakeFile(const std::string& word, const CommandName& command, Options* out) {
  const bool checks = command.command == Command::kCheckPolicy;
  const std::string name(command.name);
  std::string* file = checks ? &out->policy : &out->output;
  if (!(checks || command.command == Command::kCapture) || !file->empty()) {
    return Invalid("unexpected word after " + name, word, checks ? "one file" : "only options");
  }
  if (word.empty()) {
    return Invalid(checks ? "check-policy of a file without a name" : "capture to a file without a name", "",
                   name + " FILE");
  }
  *file = word;
  return base::Ok();
}

Status ParseRest(Words* words, const CommandName& command, Options* out) {
  constexpr std::array<std::string_view, 6> kNames = {"--root",   "--host",   "--node-addr",
                                                      "--format", "--policy", "--mpi"};
  while (!words->Empty()) {
    const std::string& word = words->Take();
    if (word == "--help" || word == "-h") {
      out->command = Command::kHelp;
      return base::Ok();
    }
    if (!word.starts_with('-') || word == "-") {
      NCCL_TUNE_RETURN_IF_ERROR(TakeFile(word, command, out));
      continue;
    }
    Option option = SplitOption(word);
    if (std::find(kNames.begin(), kNames.end(), option.name) == kNames.end()) {
      return Invalid("unknown option", option.name, "--root, --host, --node-addr, --policy, --mpi, --format or --help");
    }
    if (command.command == Command::kCheckPolicy) {
      return Invalid("option that check-policy does not take", option.name, "check-policy FILE");
    }
    if (command.command == Command::kDoctor && option.name != "--root" && option.name != "--host")
      return Invalid("option that doctor does not take", option.name, "--root or --host");
    const bool plans = command.command == Command::kEnv || command.command == Command::kExplain;
    if ((option.name == "--policy" || option.name == "--mpi") && !plans) {
      return Invalid("option of env and explain only", option.name, "no such option for " + std::string(command.name));
    }
    if (option.name == "--mpi") {
      if (option.value) return Invalid("--mpi takes no value", *option.value, "--mpi");
      out->mpi = true;
      continue;
    }
    if (!option.value) {
      if (words->Empty()) return Invalid(option.name + " without a value", "", option.name + " VALUE");
      option.value = words->Take();
    }
    NCCL_TUNE_RETURN_IF_ERROR(Apply(option.name, *std::move(option.value), command, out));
  }
  return base::Ok();
}

}  // namespace

Result<Options> ParseOptions(const std::vector<std::string>& list) {
  Words words(list);
  Options out;
  if (words.Empty()) return Invalid("no command", "", std::string(kCommandList));
  const std::string& first = words.Take();
  if (first == "--help" || first == "-h" || first == "help") return out;
  if (first == "--version") {
    out.command = Command::kVersion;
    return out;
  }
  const auto found =
      std::find_if(kCommands.begin(), kCommands.end(), [&](const CommandName& c) { return c.name == first; });
  if (found == kCommands.end()) return Invalid("unknown command", first, std::string(kCommandList));
  out.command = found->command;
  out.format = FindFormat(found->formats.substr(0, found->formats.find('|')));
  NCCL_TUNE_RETURN_IF_ERROR(ParseRest(&words, *found, &out));
  if (out.root && out.host) return Invalid("--root and --host together", *out.host, "one of them");
  if (out.command == Command::kCapture && out.output.empty())
    return Invalid("capture without a file", "", "capture FILE");
  return out;
}

std::string_view HelpText() {
  return "nccl-tune: NCCL's network settings for this node, with the reason for each\n"
         "\n"
         "  nccl-tune explain [OPTIONS]       each variable, its value, why, and what was rejected\n"
         "  nccl-tune env [OPTIONS]           NAME=VALUE lines, nothing else\n"
         "  nccl-tune facts [OPTIONS]         what was found: RDMA ports, interfaces, GPUs, routes\n"
         "  nccl-tune capture FILE [OPTIONS]  this machine as one scrubbed text file (-: standard output)\n"
         "  nccl-tune check-policy [FILE]     every fault of a site policy, or what it says (-: standard input)\n"
         "  nccl-tune doctor                  whether Slurm loads the plugin here, active or not, and why\n"
         "\n"
         "Options\n"
         "  --root DIR        read a tree (DIR/sys, DIR/ip-addr.json, ...) instead of this machine\n"
         "  --host FILE       read a capture instead of this machine\n"
         "  --node-addr ADDR  the node's address in Slurm (empty: none known)\n"
         "  --policy FILE     env, explain: this site policy instead of the machine's own\n"
         "  --mpi             env, explain: also the variables of MPI and UCX\n"
         "  --format FORMAT   facts, explain: text or json; env: shell, json or conf\n"
         "  --help, --version\n"
         "\n"
         "On this machine, NCCL variables of your environment are kept and shown as yours.\n"
         "Exit status: 0 done, 1 not readable or (doctor) not loaded, 2 wrong usage or a policy with faults.\n";
}

}  // namespace nccl_tune::cli
