// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/gather.h"
#include "hw/ip_facts.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

hw::Capture GatherFrom(hw::Capture capture) {
  const hw::CaptureTree tree(std::move(capture));
  std::vector<facts::Note> notes;
  return hw::Gather(tree, hw::ReadIpFiles(tree, &notes), std::nullopt);
}

// What is captured of a machine is a capture, and capturing that changes nothing more.
void TryOne(std::string_view text) {
  auto capture = hw::ParseCapture(text, "input");
  if (!capture.ok()) return;
  const std::string once = hw::WriteCapture(GatherFrom(std::move(capture).value()));
  auto again = hw::ParseCapture(once, "gathered");
  if (!again.ok()) {
    Require(again.error().what == "capture without any file", "what is gathered can be read", once);
    return;
  }
  const std::string twice = hw::WriteCapture(GatherFrom(std::move(again).value()));
  Require(twice == once, "gathering twice changes nothing", once);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
