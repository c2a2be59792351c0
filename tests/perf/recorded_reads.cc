// SPDX-License-Identifier: Apache-2.0
#include "tests/perf/recorded_reads.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace nccl_tune::perf {

base::Result<std::string> RecordingTree::Read(std::string_view path, std::size_t limit) const {
  paths_.emplace_back(path);
  auto text = tree_.Read(path, limit);
  if (text.ok()) bytes_ += text->size();
  return text;
}

std::size_t ReadBare(int root, const std::vector<std::string>& paths) {
  std::array<char, 4096> block;
  std::size_t bytes = 0;
  for (const auto& path : paths) {
    const int fd = openat(root, path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    const auto got = read(fd, block.data(), block.size());
    if (got > 0) bytes += static_cast<std::size_t>(got);
    close(fd);
  }
  return bytes;
}

}  // namespace nccl_tune::perf
