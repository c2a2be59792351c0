// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "pmix/step.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(ByteReader bytes) {
  const std::uint32_t node = bytes.Word();
  const auto text = bytes.Rest();
  const auto tasks = pmix::TasksOnNode(text, node);
  if (!tasks.ok()) RequireReadable(tasks.error());
  const auto nodes = pmix::CountNodes(text);
  if (!nodes.ok()) return RequireReadable(nodes.error());
  Require(tasks.ok() == (node < *nodes), "the nodes of a list are those that it names");
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
