// SPDX-License-Identifier: Apache-2.0
//
// nccl-tune: the command. Parses, calls, prints; decides nothing.
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "base/standard_descriptors.h"
#include "base/version.h"
#include "cli/check_policy.h"
#include "cli/doctor.h"
#include "cli/job.h"
#include "cli/machine.h"
#include "cli/options.h"
#include "core/env/plan.h"
#include "core/facts/node.h"
#include "core/facts/node_details.h"
#include "core/nccl/nccl_version.h"
#include "hw/capture_tree.h"
#include "hw/directory_tree.h"
#include "hw/find_nccl.h"
#include "hw/gather.h"
#include "hw/locked_memory.h"
#include "hw/read_details.h"
#include "hw/read_node.h"
#include "hw/run_program.h"
#include "hw/user_file.h"
#include "report/explain.h"
#include "report/facts_text.h"
#include "site/read_job.h"

namespace nccl_tune::cli {
namespace {

using base::Result;
using base::Status;

constexpr int kFailed = 1;
constexpr int kUsage = 2;

std::string RenderEnv(const env::Plan& plan, Format format) {
  const auto values = env::ValuesOf(plan);
  if (format == Format::kJson) return report::EnvJson(values);
  return format == Format::kConf ? report::EnvConf(values) : report::EnvShell(values);
}

std::string RenderFacts(const Options& options, const Machine& machine, const facts::Node& node) {
  const auto environment = UserEnvironment(machine);
  auto details = hw::ReadDetails(*machine.tree, node, machine.live ? hw::OwnLockedMemory() : std::nullopt);
  details.libraries = hw::FindNccl(*machine.tree, environment, &details.notes);
  constexpr nccl::NcclVersion kNewest{2, 32, 0};
  const auto version = VersionOr(*details.libraries, kNewest);
  const auto files = site::ReadConfFiles(*machine.tree, environment, version, &details.notes);
  return options.format == Format::kJson ? report::FactsJson(node, details, files)
                                         : report::FactsText(node, details, files);
}

Result<std::string> RenderPlan(const Options& options) {
  const bool explains = options.command == Command::kExplain;
  NCCL_TUNE_ASSIGN_OR_RETURN(job, PlanJob(options, explains));
  constexpr const char* kOff = "the site's policy turns the tool off on this node: a job gets nothing of this";
  if (!explains) {
    if (job.off) std::cerr << "nccl-tune: " << kOff << '\n';
    return job.off ? std::string() : RenderEnv(job.plan, options.format);
  }
  auto all = report::Explain(job.node, std::move(job.plan), job.version);
  all.library = job.library;
  if (job.off) all.warnings.push_back(kOff);
  return options.format == Format::kJson ? report::ExplainJson(all) : report::ExplainText(all);
}

Result<std::string> Render(const Options& options) {
  if (options.command != Command::kFacts) return RenderPlan(options);
  NCCL_TUNE_ASSIGN_OR_RETURN(machine, OpenMachine(options));
  NCCL_TUNE_ASSIGN_OR_RETURN(node, hw::ReadNode(*machine.tree, machine.ip, machine.node_addr));
  node.notes.insert(node.notes.begin(), machine.notes.begin(), machine.notes.end());
  return RenderFacts(options, machine, node);
}

Status Capture(const Options& options) {
  NCCL_TUNE_ASSIGN_OR_RETURN(machine, OpenMachine(options));
  NCCL_TUNE_ASSIGN_OR_RETURN(node, hw::ReadNode(*machine.tree, machine.ip, machine.node_addr));
  const std::string text = hw::WriteCapture(hw::Gather(*machine.tree, machine.ip, node.address));
  if (options.output != "-") return hw::WriteUserFile(options.output, text);
  std::cout << text;
  return base::Ok();
}

int Report(const base::Error& error, int status) {
  std::cerr << "nccl-tune: " << error.ToString() << '\n';
  return status;
}

int CheckSitePolicy(const std::string& file) {
  const bool is_input = file == "-";
  const auto text = hw::ReadUserFile(is_input ? "/dev/stdin" : file, kPolicyLimit);
  if (!text.ok()) return Report(text.error(), kFailed);
  const auto checked = CheckPolicyText(*text, is_input ? "standard input" : file);
  std::cout << checked.summary;
  std::cerr << checked.faults;
  const auto note = [&](const char* what, const std::string& why) {
    if (!why.empty() && !is_input)
      std::cerr << "nccl-tune: note: " << base::Printable(file) << what << base::Printable(why) << '\n';
  };
  note(": ignored like this: ", hw::FindModeFault(file));
  note(": users' jobs cannot read it in this place: ", hw::FindClosedFolder(file));
  return checked.ok ? 0 : kUsage;
}

// That of this machine.
int CheckInstalledPolicy() {
  const auto tree = hw::DirectoryTree::Open("/");
  if (!tree.ok()) return Report(tree.error(), kFailed);
  std::vector<facts::Note> notes;
  const std::string path = FindInstalledPolicy(**tree, base::CopyEnvironment(environ), &notes);
  for (const auto& note : notes) std::cerr << "nccl-tune: note: " << note.where << ": " << note.what << '\n';
  const auto text = (*tree)->ReadTrusted(path, kPolicyLimit);
  if (text.ok() || text.error().code == base::Code::kForbidden) return CheckSitePolicy("/" + path);
  if (text.error().code != base::Code::kNotFound) {
    base::Error error = text.error();
    error.where = std::string("/").append(path);
    return Report(error, kFailed);
  }
  std::cout << "/" << path << ": none, so detection decides\n";
  return 0;
}

// The release of this machine's Slurm; of a tree none is known.
std::optional<std::string> SlurmRelease(const Machine& machine) {
  constexpr std::chrono::milliseconds kPatience{2000};
  if (!machine.live) return std::nullopt;
  auto version = hw::RunProgram({"srun", "--version"}, kPatience);
  return version.ok() ? std::optional(*std::move(version)) : std::nullopt;
}

int ExamineInstallation(const Options& options) {
  const auto machine = OpenMachine(options);
  if (!machine.ok()) return Report(machine.error(), kFailed);
  const auto found =
      Diagnose(*machine->tree,
               {.environment = UserEnvironment(*machine), .node = machine->name, .release = SlurmRelease(*machine)});
  std::cout << found.text;
  return found.is_well ? 0 : kFailed;
}

int Run(const std::vector<std::string>& words) {
  const auto options = ParseOptions(words);
  if (!options.ok()) return Report(options.error(), kUsage);
  int status = 0;
  if (options->command == Command::kHelp) {
    std::cout << HelpText();
  } else if (options->command == Command::kVersion) {
    std::cout << "nccl-tune " << base::kVersion << '\n';
  } else if (options->command == Command::kCapture) {
    const auto done = Capture(*options);
    if (!done.ok()) return Report(done.error(), kFailed);
  } else if (options->command == Command::kCheckPolicy) {
    status = options->policy.empty() ? CheckInstalledPolicy() : CheckSitePolicy(options->policy);
  } else if (options->command == Command::kDoctor) {
    status = ExamineInstallation(*options);
  } else {
    const auto text = Render(*options);
    const bool faulty = !text.ok() && options->site_policy && text.error().code == base::Code::kInvalidInput;
    if (!text.ok()) return Report(text.error(), faulty ? kUsage : kFailed);
    std::cout << *text;
  }
  std::cout.flush();
  if (std::cout.fail()) {
    return Report({.code = base::Code::kUnreadable, .what = "cannot write to standard output"}, kFailed);
  }
  return status;
}

}  // namespace
}  // namespace nccl_tune::cli

int main(int argc, char** argv) {
  if (!nccl_tune::base::OpenStandardDescriptors()) std::cout.setstate(std::ios::badbit);
  return nccl_tune::cli::Run({argv + (argc > 0 ? 1 : 0), argv + argc});
}
