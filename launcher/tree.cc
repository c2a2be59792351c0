// SPDX-License-Identifier: Apache-2.0
#include "launcher/tree.h"

namespace nccl_tune::launcher {

std::optional<std::uint32_t> ParentOf(std::uint32_t node) {
  if (node == 0) return std::nullopt;
  return (node - 1) / kFanOut;
}

std::vector<std::uint32_t> ChildrenOf(std::uint32_t node, std::uint32_t count) {
  std::vector<std::uint32_t> children;
  const std::uint64_t first = std::uint64_t{node} * kFanOut + 1;
  for (std::uint64_t child = first; child < first + kFanOut && child < count; ++child) {
    children.push_back(static_cast<std::uint32_t>(child));
  }
  return children;
}

std::uint32_t HeightOf(std::uint32_t node, std::uint32_t count) {
  std::uint32_t height = 0;
  // The first child's tree is the deepest.
  for (std::uint64_t child = std::uint64_t{node} * kFanOut + 1; child < count; child = child * kFanOut + 1) ++height;
  return height;
}

std::uint32_t SizeOf(std::uint32_t node, std::uint32_t count) {
  std::uint64_t size = 0;
  std::uint64_t first = node;
  std::uint64_t last = node;
  while (first < count) {
    size += (last < count ? last : count - 1) - first + 1;
    first = first * kFanOut + 1;
    last = last * kFanOut + kFanOut;
  }
  return static_cast<std::uint32_t>(size);
}

std::optional<std::uint32_t> NextInRing(std::uint32_t node, std::uint32_t count) {
  if (count < 2) return std::nullopt;
  return (node + 1) % count;
}

std::vector<std::uint32_t> FirstRanksBlock(const std::vector<std::uint32_t>& tasks) {
  std::vector<std::uint32_t> first;
  first.reserve(tasks.size());
  std::uint32_t rank = 0;
  for (const std::uint32_t count : tasks) {
    first.push_back(rank);
    rank += count;
  }
  return first;
}

}  // namespace nccl_tune::launcher
