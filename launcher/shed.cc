// SPDX-License-Identifier: Apache-2.0
#include "launcher/shed.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "base/parse_number.h"

namespace nccl_tune::launcher {

std::vector<std::pair<std::uintptr_t, std::uintptr_t>> CodeRanges(std::string_view maps) {
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    const std::string_view line = maps.substr(0, end);
    maps.remove_prefix(std::min(maps.size(), end + 1));
    // "7f00-7f10 r-xp 00001000 fe:00 1234   /usr/lib/libx.so"
    const std::size_t dash = line.find('-');
    const std::size_t space = line.find(' ');
    if (dash == std::string_view::npos || space == std::string_view::npos || dash > space) continue;
    if (line.substr(space + 1, 5) != "r-xp " || line.find(" /") == std::string_view::npos) continue;
    const auto first = base::ParseInteger<std::uintptr_t>(line.substr(0, dash), 16);
    const auto last = base::ParseInteger<std::uintptr_t>(line.substr(dash + 1, space - dash - 1), 16);
    if (first.ok() && last.ok() && *first < *last) ranges.emplace_back(*first, *last);
  }
  return ranges;
}

void ShedMemory() {
  std::ifstream file("/proc/self/maps");
  const std::string maps((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const auto& [first, last] : CodeRanges(maps)) {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
  malloc_trim(0);
}

}  // namespace nccl_tune::launcher
