// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/nccl/nccl_version.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  const auto version = nccl::ParseNcclVersion(text);
  if (!version.ok()) {
    RequireReadable(version.error());
  } else {
    const auto again = nccl::ParseNcclVersion(version->ToString());
    Require(again.ok() && *again == *version, "a version is read as it is written", text);
  }
  ByteReader bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const auto code = nccl::NcclVersionFromCode(static_cast<int>(bytes.Word()));
  if (!code.ok()) return RequireReadable(code.error());
  Require(code->major >= 1 && code->major <= 99 && code->minor >= 0 && code->patch >= 0, "a code is a version", text);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
