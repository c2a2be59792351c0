// SPDX-License-Identifier: Apache-2.0
//
// Rewrites the kept samples in the source tree: bazel run //tests/bench:update_samples
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/bench/samples.h"

int main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "update_samples: start it with bazel run //tests/bench:update_samples\n";
    return 2;
  }
  const std::filesystem::path folder = std::filesystem::path(workspace) / "tests" / "bench" / "samples";
  std::error_code error;
  std::filesystem::remove_all(folder, error);  // those that are gone go as well
  std::filesystem::create_directories(folder, error);
  for (const auto& sample : nccl_tune::bench::MakeSamples()) {
    std::ofstream out(folder / sample.file, std::ios::binary | std::ios::trunc);
    out << sample.text;
    out.close();
    if (out.fail()) {
      std::cerr << "update_samples: " << (folder / sample.file).string() << ": cannot write\n";
      return 1;
    }
  }
  std::cout << "samples written to " << folder.string() << '\n';
  return 0;
}
