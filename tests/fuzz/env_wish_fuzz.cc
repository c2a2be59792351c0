// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "envplugin/wish.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  const auto wish = envplugin::ReadWish({{"NCCL_TUNE", std::string(text)}});
  Require(wish.stated == !text.empty(), "a value is a wish", text);
  Require(wish.refused.empty() || !wish.Active(), "what is no mode does nothing", text);
  Require(text != "off" || !wish.Active(), "off does nothing", text);
  Require(wish.set || wish.explain || text == "off" || !wish.refused.empty(), "only off is off", text);
  Require(wish.profile.size() <= text.size(), "a profile's name is a part of the text", text);
  // More words never turn a wish that was refused into one that acts.
  const auto more = envplugin::ReadWish({{"NCCL_TUNE", std::string(text) + ",explain"}});
  const bool joined = text.empty() || text.ends_with(',');
  Require(wish.refused.empty() || joined || !more.Active(), "what is refused stays refused", text);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
