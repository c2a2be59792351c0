// SPDX-License-Identifier: Apache-2.0
//
// nccl-bench: measures a collective between the tasks of a step, with nccl-tests' flags and output.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/standard_descriptors.h"
#include "bench/program.h"

int main(int argc, char** argv) {
  // A table that nobody gets is an error, told where the program ends.
  if (!nccl_tune::base::OpenStandardDescriptors()) std::cout.setstate(std::ios::badbit);
  // A result file at its limit is an error with a text (EFBIG), not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  const auto environment = nccl_tune::base::CopyEnvironment(environ);
  const std::string called = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return nccl_tune::bench::RunProgram(called, arguments, environment);
}
