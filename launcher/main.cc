// SPDX-License-Identifier: Apache-2.0
//
// nccl-launch: the tasks of a Slurm step tell each other where they are, are compared, and start PROGRAM.
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/standard_descriptors.h"
#include "base/version.h"
#include "launcher/launch.h"
#include "launcher/options.h"

namespace nccl_tune::launcher {
namespace {

int Main(const std::vector<std::string>& arguments, const base::Environment& environment) {
  const auto options = ParseOptions(arguments);
  if (!options.ok()) return FailOnce(kOwnFailure, environment, options.error().ToString());
  if (options->mode == Mode::kLaunch || options->mode == Mode::kCheck) return Launch(*options, environment);
  if (base::Lookup(environment, "SLURM_PROCID").value_or("0") != "0") return 0;  // once is enough
  if (options->mode == Mode::kHelp) std::cout << HelpText();
  if (options->mode == Mode::kVersion) std::cout << "nccl-launch " << base::kVersion << "\n";
  std::cout.flush();
  return std::cout.fail() ? Fail(kOwnFailure, "cannot write to standard output") : 0;
}

}  // namespace
}  // namespace nccl_tune::launcher

int main(int argc, char** argv) {
  // Else PMIx's sockets would be what PROGRAM writes to.
  static_cast<void>(nccl_tune::base::OpenStandardDescriptors());
  // The environment as it was given: PMIx adds to it.
  const auto environment = nccl_tune::base::CopyEnvironment(environ);
  const int status =
      nccl_tune::launcher::Main(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), environment);
  std::cout.flush();
  std::cerr.flush();
  // Without exit handlers: after a failed exchange PMIx's own would wait for a server that does not answer.
  _exit(status);
}
