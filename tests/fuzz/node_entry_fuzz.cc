// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "launcher/node_entry.h"
#include "launcher/preflight.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void RequireSameAfterTravel(const launcher::NodeEntry& entry) {
  const std::string text = launcher::EncodeEntry(entry);
  const auto again = launcher::DecodeNodeEntry(text);
  Require(again.ok() && launcher::EncodeEntry(*again) == text, "an entry is read as it is written", text);
  Require(again.ok() && again->rails == entry.rails, "rails come back", text);
}

// Entries of nodes, a line each; the first byte chooses the preflight.
void TryOne(ByteReader bytes) {
  const auto preflight = bytes.Flag() ? launcher::Preflight::kFail : launcher::Preflight::kWarn;
  std::vector<launcher::NodeEntry> entries;
  std::vector<launcher::FailedProbe> failures;
  while (!bytes.AtEnd()) {
    const std::string line(bytes.Line());
    auto entry = launcher::DecodeNodeEntry(line);
    if (!entry.ok()) {
      RequireReadable(entry.error());
      if (failures.size() < 8) failures.push_back({line, "b", line.substr(0, 20), line.substr(line.size() / 2)});
      continue;
    }
    RequireSameAfterTravel(*entry);
    entries.push_back(std::move(entry).value());
  }
  for (const auto& list : {std::vector<launcher::FailedProbe>(), failures}) {
    const auto verdict = launcher::Judge(entries, list, preflight, launcher::Severity::kNote);
    Require(verdict.lines.size() <= 40, "the lines are few");
    for (const auto& line : verdict.lines) Require(IsPrintableLine(line), "a line is printable", line);
    const std::string text = launcher::EncodeAgreement(verdict.agreement);
    const auto again = launcher::DecodeAgreement(text);
    Require(again.ok() && *again == verdict.agreement, "an agreement is read as it is written", text);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
