// SPDX-License-Identifier: Apache-2.0
//
// Rewrites docs/ranks.md in the source tree: bazel run //tests/launcher:update_ranks_page
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/launcher/ranks_page.h"

int main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "update_ranks_page: start it with bazel run //tests/launcher:update_ranks_page\n";
    return 2;
  }
  const std::string path = std::string(workspace) + "/docs/ranks.md";
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << nccl_tune::launcher::RanksMarkdown();
  out.close();
  if (!out.fail()) return 0;
  std::cerr << "update_ranks_page: " << path << ": cannot write\n";
  return 1;
}
