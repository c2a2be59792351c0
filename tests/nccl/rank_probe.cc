// SPDX-License-Identifier: Apache-2.0
//
// Makes a communicator of one rank on GPU 0, which starts NCCL's network, and prints NCCL's log:
//   rank_probe [LIBNCCL]
// Ends with 0 whatever the communicator became: what counts is the log. 2 and 3 as bootstrap_probe.
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <optional>
#include <string>

#include "tests/nccl/nccl_library.h"

namespace nccl_tune::nccl_judge {
namespace {

std::optional<Log> g_log;

int Fail(const base::Error& error) {
  std::cerr << "rank_probe: " << error.ToString() << "\n";
  return error.code == base::Code::kNotFound ? 3 : 2;
}

void PrintAndEnd(const std::string& last) {
  std::cout << g_log->Text() << last << std::endl;
  _exit(0);
}

// The devices of the stand-in cannot transfer; NCCL may die of that, after it has chosen.
void OnCrash(int) { PrintAndEnd("rank_probe: NCCL crashed after this"); }

int Ask(const std::string& path) {
  auto log = Log::Open();
  if (!log.ok()) return Fail(log.error());
  g_log = *log;
  const auto library = OpenNccl(path);
  if (!library.ok()) return Fail(library.error());
  for (const int crash : {SIGSEGV, SIGBUS, SIGABRT, SIGALRM}) std::signal(crash, OnCrash);
  alarm(60);
  UniqueId id;
  Communicator communicator = nullptr;
  int status = library->get_unique_id(&id);
  if (status == 0) status = library->init_rank(&communicator, 1, id, 0);
  PrintAndEnd("rank_probe: NCCL " + library->version + ", status " + std::to_string(status));
  return 0;
}

}  // namespace
}  // namespace nccl_tune::nccl_judge

int main(int count, char** words) { return nccl_tune::nccl_judge::Ask(count > 1 ? words[1] : ""); }
