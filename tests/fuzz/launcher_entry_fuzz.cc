// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/leaders.h"
#include "launcher/line_tracker.h"
#include "launcher/message.h"
#include "launcher/node_entry.h"
#include "launcher/rank_table.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// What the tasks of a step tell each other over PMIx and their sockets, a line each.
void TryOne(ByteReader bytes) {
  std::vector<launcher::NodeEntry> entries;
  launcher::Message all{.kind = launcher::Message::Kind::kReady};
  launcher::LineTracker plain;
  launcher::LineTracker tagged("[rank 1] ");
  while (!bytes.AtEnd()) {
    const std::string line(bytes.Line());
    Require(plain.Feed(line) == line, "without a tag bytes pass unchanged", line);
    static_cast<void>(tagged.Feed(line));
    if (const auto message = launcher::DecodeMessage(line); message.ok()) {
      const std::string text = launcher::EncodeMessage(*message);
      const auto again = launcher::DecodeMessage(text);
      Require(again.ok() && launcher::EncodeMessage(*again) == text, "a message is read as it is written", text);
      launcher::AddProblems(*message, &all);
    } else {
      RequireReadable(message.error());
    }
    if (const auto point = launcher::DecodePoint(line + "\n" + line); point.ok()) {
      const std::string text = launcher::EncodePoint(*point);
      const auto again = launcher::DecodePoint(text);
      Require(again.ok() && launcher::EncodePoint(*again) == text, "a point is read as it is written", text);
    } else {
      RequireReadable(point.error());
    }
    if (auto entry = launcher::DecodeNodeEntry(line); entry.ok()) entries.push_back(std::move(entry).value());
  }
  Require(all.problems.size() <= launcher::kMostProblems, "problems are bounded");
  Require(plain.LastLines().size() <= launcher::LineTracker::kKeptLines, "kept lines are bounded");
  const std::string table = launcher::RenderNodeTable(entries);
  for (ByteReader lines(reinterpret_cast<const std::uint8_t*>(table.data()), table.size()); !lines.AtEnd();) {
    const std::string_view line = lines.Line();
    Require(IsPrintableLine(line), "a table is printable", line);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
