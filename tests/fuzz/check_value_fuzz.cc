// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/nccl/check_value.h"
#include "core/nccl/variables.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// A byte for the variable, then its value: a verdict that can be read, and none of the illegal passes.
void TryOne(ByteReader bytes) {
  const auto variables = nccl::AllVariables();
  const nccl::Variable& variable = variables[bytes.Below(variables.size())];
  const std::string_view text = bytes.Rest();
  Require(!nccl::CheckValue(text, "1").ok() || nccl::Lookup(text) != nullptr, "unknown names are told", text);
  const auto check = nccl::CheckValue(variable.name, text);
  if (!check.ok()) {
    RequireReadable(check.error());
    Require(check.error().where == variable.name, "an error names the variable", variable.name);
    return;
  }
  Require(!text.empty() && text.find_first_of("\n\r\t") == text.npos, "a legal value is one line", text);
  if (variable.kind == nccl::VariableKind::kInteger) {
    Require(text.find_first_not_of(" +-0123456789abcdefxABCDEFX") == text.npos, "a number has no letters", text);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
