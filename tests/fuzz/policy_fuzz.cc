// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/policy/site_policy.h"
#include "site/parse_policy.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  const auto checked = site::CheckPolicy(text, "policy.toml");
  for (const auto& error : checked.errors) RequireReadable(error);
  for (const auto& note : checked.notes) Require(IsPrintableLine(note.what), "a note is one printable line", note.what);
  if (!checked.errors.empty()) return;
  const policy::SiteContext context{.node = "node01", .partition = "gpu", .features = std::nullopt};
  const auto site = policy::Resolve(checked.file, context);
  for (const auto& [name, stated] : site.set) {
    Require(policy::MaySet(site, name), "what may not be set is not set", name);
    Require(IsPrintableLine(name + stated.value), "a variable is one printable line", name);
    Require(stated.origin.line > 0, "each value has its line", name);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
