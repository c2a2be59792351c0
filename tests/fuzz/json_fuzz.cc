// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// What is read is written and read again as it was.
void TryOne(std::string_view text) {
  const auto json = base::ParseJson(text);
  if (!json.ok()) return RequireReadable(json.error());
  const std::string written = base::DumpJson(*json);
  Require(IsPrintableLine(written), "JSON is written as one printable line", written);
  const auto again = base::ParseJson(written);
  Require(again.ok() && base::DumpJson(*again) == written, "JSON is read as it is written", written);
  for (const char* key : {"", "a", "v", "set"}) {
    const bool is_text = base::GetString(*json, key).has_value();
    const bool is_number = base::GetInteger(*json, key).has_value();
    Require(is_text + is_number + base::GetBool(*json, key).has_value() <= 1, "a member has one type", text);
    (void)base::GetMember(*json, key);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
