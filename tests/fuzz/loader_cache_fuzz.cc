// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hw/loader_cache.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  const auto found = hw::FindInLoaderCache(text, "libnccl.so.2");
  if (!found.ok()) return RequireReadable(found.error());
  for (const auto& path : *found) Require(text.find(path) != text.npos, "a path stands in the file", path);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
