// SPDX-License-Identifier: Apache-2.0
#include "bench/host_name.h"

#include <unistd.h>

#include <array>

namespace nccl_tune::bench {

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return WithoutDomain(name.data());
}

std::string WithoutDomain(std::string_view name) { return std::string(name.substr(0, name.find('.'))); }

}  // namespace nccl_tune::bench
