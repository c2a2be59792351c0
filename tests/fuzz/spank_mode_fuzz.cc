// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/nccl/settable.h"
#include "site/mode.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  const auto mode = site::ParseMode(text);
  if (!mode.ok()) return RequireReadable(mode.error());
  for (const auto& [name, value] : mode->values) {
    Require(name.starts_with("NCCL_") && !nccl::IsOurOwn(name), "only NCCL's own are set", text);
    Require(IsPrintableLine(name + value) && !value.empty(), "a value is one printable line", text);
    Require(!mode->unset.contains(name), "nothing is set and unset", text);
  }
  for (const auto& name : mode->unset)
    Require(name.starts_with("NCCL_") && !nccl::IsOurOwn(name), "only NCCL's own are unset", text);
  Require(IsPrintableLine(mode->profile), "a profile's name is printable", text);
  Require(mode->set || mode->explain || !mode->mpi, "what is off does nothing", text);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
