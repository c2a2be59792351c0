// SPDX-License-Identifier: Apache-2.0
#include "bench/host_memory.h"

#include "base/parse_number.h"

namespace nccl_tune::bench {

std::optional<std::uint64_t> AvailableMemory(std::string_view meminfo) {
  constexpr std::string_view kName = "MemAvailable:";
  const std::size_t start = meminfo.find(kName);
  if (start == std::string_view::npos || (start > 0 && meminfo[start - 1] != '\n')) return std::nullopt;
  std::string_view line = meminfo.substr(start + kName.size());
  line = base::Trim(line.substr(0, line.find('\n')));
  if (!line.ends_with(" kB")) return std::nullopt;
  const auto kib = base::ParseInteger<std::uint64_t>(base::Trim(line.substr(0, line.size() - 3)));
  if (!kib.ok() || *kib > UINT64_MAX / 1024) return std::nullopt;
  return *kib * 1024;
}

}  // namespace nccl_tune::bench
