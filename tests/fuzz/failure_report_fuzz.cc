// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "launcher/failure.h"
#include "launcher/failure_report.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

constexpr std::array<launcher::FailureKind, 5> kKinds = {
    launcher::FailureKind::kRankEnded, launcher::FailureKind::kNodeLost, launcher::FailureKind::kTimeout,
    launcher::FailureKind::kHang, launcher::FailureKind::kCannotStart};

std::vector<std::string> Texts(ByteReader& bytes, std::size_t most) {
  std::vector<std::string> texts;
  for (std::size_t left = bytes.Below(most + 1); left > 0; --left) texts.push_back(bytes.Text(400));
  return texts;
}

std::optional<std::string> MaybeText(ByteReader& bytes) {
  return bytes.Flag() ? std::optional(bytes.Text(400)) : std::nullopt;
}

std::optional<int> MaybeNumber(ByteReader& bytes) {
  return bytes.Flag() ? std::optional(static_cast<int>(bytes.Word())) : std::nullopt;
}

double AnyDouble(ByteReader& bytes) {
  const std::uint64_t high = bytes.Word();
  return std::bit_cast<double>(high << 32U | bytes.Word());
}

launcher::RankEnd AnyEnd(ByteReader& bytes) {
  launcher::RankEnd end;
  end.rank = bytes.Word();
  end.local_rank = bytes.Word();
  end.node = bytes.Text(400);
  end.pid = static_cast<std::int32_t>(bytes.Word());
  end.exit_code = MaybeNumber(bytes);
  end.signal = MaybeNumber(bytes);
  end.core = bytes.Flag();
  end.seconds = AnyDouble(bytes);
  end.program = bytes.Text(400);
  end.last_lines = Texts(bytes, 20);
  end.nccl_last = MaybeText(bytes);
  end.python_error = MaybeText(bytes);
  if (bytes.Flag()) end.oom_killed = bytes.Flag();
  return end;
}

launcher::Failure AnyFailure(ByteReader& bytes) {
  launcher::Failure failure;
  failure.kind = bytes.Pick(std::span<const launcher::FailureKind>(kKinds));
  failure.job = bytes.Text(100);
  failure.step = bytes.Text(100);
  if (bytes.Flag()) failure.first = AnyEnd(bytes);
  for (std::size_t left = bytes.Below(8); left > 0; --left) {
    launcher::LaterEnds ends{.what = bytes.Text(400)};
    for (std::size_t ranks = bytes.Below(64); ranks > 0; --ranks) ends.ranks.push_back(bytes.Word());
    failure.later.push_back(std::move(ends));
  }
  failure.nodes = bytes.Word();
  failure.ranks = bytes.Word();
  if (bytes.Flag()) failure.limit = AnyDouble(bytes);
  failure.started = bytes.Word();
  failure.unreached = Texts(bytes, 20);
  failure.program = Texts(bytes, 5);
  failure.differences = Texts(bytes, 20);
  return failure;
}

void TryOne(ByteReader bytes) {
  const launcher::Failure failure = AnyFailure(bytes);
  const std::string text = launcher::RenderFailure(failure);
  Require(text.starts_with("nccl-launch: ") && text.ends_with('\n'), "a report is whole lines", text);
  Require(std::count(text.begin(), text.end(), '\n') < 40, "a report is short", text);
  for (ByteReader lines(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()); !lines.AtEnd();) {
    const std::string_view line = lines.Line();
    Require(IsPrintableLine(line), "a report is printable", line);
  }
  const std::string json = launcher::FailureJson(failure);
  const auto parsed = base::ParseJson(json);
  Require(parsed.ok() && base::GetInteger(*parsed, "v") == 1, "the JSON can be read", json);
  Require(launcher::FailureJson(failure) == json, "the same failure gives the same bytes", json);
  const std::string name = launcher::FailureFileName(failure);
  Require(IsPrintableLine(name) && name.find('/') == std::string::npos && name.size() < 200, "a plain file name", name);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
