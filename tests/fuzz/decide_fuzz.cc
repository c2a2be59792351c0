// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/node_from_bytes.h"
#include "tests/fuzz/plan_properties.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// The rules on nodes that no capture could hold, for users who have set something.
void TryOne(ByteReader bytes, Texts texts) {
  const auto environment = EnvironmentFromBytes(&bytes);
  RequireSoundPlan(NodeFromBytes(&bytes), environment, texts);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using nccl_tune::fuzz::Texts;
  const auto texts = nccl_tune::fuzz::IsOneIn(32, data, size) ? Texts::kAll : Texts::kNone;
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size), texts);
  return 0;
}
