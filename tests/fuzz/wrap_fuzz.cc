// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/wrap.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// Text for a terminal: printable, no word lost, no line wider than asked for unless a word is.
void TryOne(ByteReader bytes) {
  const std::size_t indent = bytes.Below(30);
  const std::size_t width = 20 + bytes.Below(100);
  const std::string label = bytes.Text(40);
  const std::string_view text = bytes.Rest();
  const std::string out = report::Wrap(label, indent, text, width);
  Require(out.ends_with('\n'), "a text ends with a line end", out);
  ByteReader lines(reinterpret_cast<const std::uint8_t*>(out.data()), out.size());
  for (bool first = true; !lines.AtEnd(); first = false) {
    const std::string_view line = lines.Line();
    Require(IsPrintableLine(line) && !line.ends_with(' '), "a line is printable and not padded", line);
    const std::string_view words = first || line.size() < indent ? line : line.substr(indent);
    Require(first || line.size() <= width || words.find(' ') == words.npos, "a line fits", line);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
