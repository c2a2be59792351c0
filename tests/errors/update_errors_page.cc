// SPDX-License-Identifier: Apache-2.0
//
// Rewrites docs/errors.md in the source tree: bazel run //tests/errors:update_errors_page
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/errors/errors_page.h"

int main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "update_errors_page: start it with bazel run //tests/errors:update_errors_page\n";
    return 2;
  }
  const std::string path = std::string(workspace) + "/docs/errors.md";
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << nccl_tune::errors::ErrorsMarkdown();
  out.close();
  if (!out.fail()) return 0;
  std::cerr << "update_errors_page: " << path << ": cannot write\n";
  return 1;
}
