// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/facts/ip_address.h"
#include "hw/capture_tree.h"
#include "hw/ip_facts.h"
#include "hw/read_node.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/plan_properties.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// A whole machine: capture, facts, decisions, plan, texts.
void TryOne(std::string_view text, Texts texts) {
  auto capture = hw::ParseCapture(text, "input");
  if (!capture.ok()) return RequireReadable(capture.error());
  std::optional<facts::IpAddress> address;
  if (const auto given = capture->header.find("node-addr"); given != capture->header.end()) {
    const auto parsed = facts::ParseIpAddress(given->second);
    if (parsed.ok()) address = *parsed;
  }
  const hw::CaptureTree tree(std::move(capture).value());
  std::vector<facts::Note> notes;
  const auto ip = hw::ReadIpFiles(tree, &notes);
  auto node = hw::ReadNode(tree, ip, address);
  if (!node.ok()) return RequireReadable(node.error());
  node.value().notes.insert(node.value().notes.begin(), notes.begin(), notes.end());
  RequireSoundPlan(*node, {}, texts);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using nccl_tune::fuzz::Texts;
  const auto texts = nccl_tune::fuzz::IsOneIn(32, data, size) ? Texts::kAll : Texts::kNone;
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size), texts);
  return 0;
}
