// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/entry.h"
#include "launcher/meeting.h"
#include "launcher/rank_table.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void RequireSameAfterTravel(const launcher::Entry& entry) {
  const std::string text = launcher::EncodeEntry(entry);
  const auto again = launcher::DecodeEntry(text);
  Require(again.ok() && launcher::EncodeEntry(*again) == text, "an entry is read as it is written", text);
}

// What the ranks tell each other, a line each.
void TryOne(ByteReader bytes) {
  std::vector<launcher::Entry> entries;
  std::set<std::uint32_t> nodes;
  while (!bytes.AtEnd()) {
    auto entry = launcher::DecodeEntry(bytes.Line());
    if (!entry.ok()) {
      RequireReadable(entry.error());
      continue;
    }
    RequireSameAfterTravel(*entry);
    nodes.insert(entry->node_id);
    entries.push_back(std::move(entry).value());
  }
  if (const auto message = launcher::FindDisagreement(entries)) {
    Require(IsPrintableLine(*message), "a message is one printable line", *message);
  }
  const std::string table = launcher::RenderRankTable(entries);
  for (ByteReader lines(reinterpret_cast<const std::uint8_t*>(table.data()), table.size()); !lines.AtEnd();) {
    const std::string_view line = lines.Line();
    Require(IsPrintableLine(line), "a table is printable", line);
  }
  const auto count = static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n'));
  Require(count > nodes.size() && count <= 1 + 2 * nodes.size(), "a table has a line or two for each node", table);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
