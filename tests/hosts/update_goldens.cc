// SPDX-License-Identifier: Apache-2.0
//
// Rewrites the goldens of every captured machine in the source tree: bazel run //tests/hosts:update_goldens
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <system_error>

#include "base/result.h"
#include "report/rules_text.h"
#include "tests/hosts/replay.h"

namespace nccl_tune::hosts {
namespace {

namespace fs = std::filesystem;

base::Status WriteFile(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out.fail()) return base::Error{.code = base::Code::kForbidden, .what = "cannot write", .where = path.string()};
  return base::Ok();
}

base::Status Update(const fs::path& workspace) {
  NCCL_TUNE_RETURN_IF_ERROR(WriteFile(workspace / "docs" / "rules.md", report::RulesMarkdown()));
  const fs::path folder = workspace / "tests" / "hosts";
  NCCL_TUNE_ASSIGN_OR_RETURN(names, ListCaptures(folder.string()));
  const fs::path goldens = folder / "golden";
  std::error_code error;
  fs::remove_all(goldens, error);  // those of captures that are gone go as well
  if (!fs::create_directories(goldens, error)) {
    return base::Error{.code = base::Code::kForbidden, .what = "cannot make the folder", .where = goldens.string()};
  }
  for (const auto& name : names) {
    NCCL_TUNE_ASSIGN_OR_RETURN(replay, ReplayCapture(folder.string(), name));
    for (const auto& golden : RenderGoldens(name, replay)) {
      NCCL_TUNE_RETURN_IF_ERROR(WriteFile(goldens / golden.file, golden.text));
    }
  }
  std::cout << "goldens of " << names.size() << " machines written to " << goldens.string() << '\n';
  return base::Ok();
}

}  // namespace
}  // namespace nccl_tune::hosts

int main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "update_goldens: start it with bazel run //tests/hosts:update_goldens\n";
    return 2;
  }
  const auto done = nccl_tune::hosts::Update(workspace);
  if (done.ok()) return 0;
  std::cerr << "update_goldens: " << done.error().ToString() << '\n';
  return 1;
}
