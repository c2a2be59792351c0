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
  const auto tasks = pmix::TasksOnNode(bytes.Rest(), node);
  if (!tasks.ok()) RequireReadable(tasks.error());
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
