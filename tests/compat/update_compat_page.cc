// SPDX-License-Identifier: Apache-2.0
//
// Rewrites docs/nccl-tests-compat.md in the source tree: bazel run //tests/compat:update_compat_page
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/compat/compat_page.h"

int main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "update_compat_page: start it with bazel run //tests/compat:update_compat_page\n";
    return 2;
  }
  const std::string path = std::string(workspace) + "/docs/nccl-tests-compat.md";
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << nccl_tune::compat::CompatMarkdown();
  out.close();
  if (!out.fail()) return 0;
  std::cerr << "update_compat_page: " << path << ": cannot write\n";
  return 1;
}
