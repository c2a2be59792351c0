// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "hw/capture_tree.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// A capture that is read is written and read again as it was, and its tree answers for every path.
void TryOne(std::string_view text) {
  auto capture = hw::ParseCapture(text, "input");
  if (!capture.ok()) return RequireReadable(capture.error());
  const std::string written = hw::WriteCapture(*capture);
  const auto again = hw::ParseCapture(written, "written");
  Require(again.ok(), "a written capture can be read", again.ok() ? "" : again.error().ToString());
  Require(hw::WriteCapture(*again) == written, "a written capture is read as it was", written);
  Require(again->entries.size() == capture->entries.size(), "every entry is written", written);
  const hw::CaptureTree tree(std::move(capture).value());
  for (const auto& [path, entry] : tree.capture().entries) {
    const auto content = tree.Read(path);
    const bool is_file = std::holds_alternative<hw::CaptureFile>(entry);
    Require(content.ok() || !is_file || std::get<hw::CaptureFile>(entry).content.size() > hw::Tree::kAttributeLimit,
            "a file of a capture can be read", path);
    const auto names = tree.List(path);
    Require(names.ok() || !std::holds_alternative<hw::CaptureFolder>(entry), "a folder can be listed", path);
    (void)tree.CheckOpenable(path);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
