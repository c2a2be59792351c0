// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spank/mode.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  const auto mode = spank::ParseMode(text);
  if (!mode.ok()) return RequireReadable(mode.error());
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const bool names = item.starts_with("profile=");
    Require(names || item.find_first_not_of("abcdefghijklmnopqrstuvwxyz-()") == item.npos, "only words are modes",
            text);
  }
  Require(IsPrintableLine(mode->profile), "a profile's name is printable", text);
  Require(mode->set || mode->explain || !mode->mpi, "what is off does nothing", text);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
