// SPDX-License-Identifier: Apache-2.0
//
// Asks the real NCCL for a unique id, which needs no GPU, and prints which interface it took for bootstrap:
//   bootstrap_probe [LIBNCCL]
//   server1 2.28.9 =ens11f1 ens11f1 172.16.0.11     node, NCCL, NCCL_SOCKET_IFNAME or "-", interface and its address
//   server1 2.28.9 =eth9 none: no socket interface found
// Ends with 0, with 1 when NCCL took none, 2 when there is an error of our own, 3 when NCCL is not installed.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/nccl/nccl_library.h"

namespace nccl_tune::nccl_judge {
namespace {

std::string NodeName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

int Fail(const base::Error& error) {
  std::cerr << "bootstrap_probe: " << error.ToString() << "\n";
  return error.code == base::Code::kNotFound ? 3 : 2;
}

int Ask(const std::string& path) {
  const char* wanted = std::getenv("NCCL_SOCKET_IFNAME");
  const std::string variable = wanted == nullptr ? "-" : wanted;
  const auto log = Log::Open();
  if (!log.ok()) return Fail(log.error());
  const auto library = OpenNccl(path);
  if (!library.ok()) return Fail(library.error());
  UniqueId id;
  const int status = library->get_unique_id(&id);
  const std::string text = log->Text();
  const std::string taken = status == 0 ? TakenInterface(text) : "";
  std::cout << NodeName() << " " << library->version << " " << variable << " ";
  if (taken.empty()) {
    std::cout << "none: " << LastWarning(text) << std::endl;
    return 1;
  }
  std::cout << taken << std::endl;
  return 0;
}

}  // namespace
}  // namespace nccl_tune::nccl_judge

int main(int count, char** words) {
  const int status = nccl_tune::nccl_judge::Ask(count > 1 ? words[1] : "");
  _exit(status);  // NCCL's threads are still there
}
