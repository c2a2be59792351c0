// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "core/nccl/nccl_integer.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// Against the C library, which NCCL uses: strtoll with base 0 and 10.
void TryOne(std::string_view text) {
  const auto read = nccl::ReadNcclInteger(text);
  Require(
      read.value.has_value() == (read.form != nccl::IntegerForm::kEmpty && read.form != nccl::IntegerForm::kTooLarge),
      "the default applies to nothing and to too much only", text);
  if (text.find('\0') != text.npos) return;  // ends a variable's value
  const std::string copy(text);
  errno = 0;
  const std::int64_t expected = std::strtoll(copy.c_str(), nullptr, 0);
  const bool smallest = expected == std::numeric_limits<std::int64_t>::min();  // we take it for too large
  if (errno == 0 && !text.empty() && !smallest) Require(read.value == expected, "a number is NCCL's", text);
  if (errno == ERANGE) Require(read.form == nccl::IntegerForm::kTooLarge, "too large a number is told", text);
  const std::int64_t port = std::strtol(copy.c_str(), nullptr, 10);
  constexpr std::int64_t kPorts = 65536;
  if (port > 0 && port < kPorts) Require(nccl::ReadListNumber(text) == port, "a port is NCCL's", text);
  if (port == 0) Require(nccl::ReadListNumber(text) == 0, "text is port 0", text);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
