// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/traffic.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text, double scale) {
  const auto traffic = bench::Traffic::FromMatrix(text, "matrix", scale);
  if (!traffic.ok()) return RequireReadable(traffic.error());
  Require(traffic->is_matrix(), "what is read has cells", text);
  std::string written;
  for (std::uint64_t from = 0; from < traffic->side(); ++from) {
    for (std::uint64_t to = 0; to < traffic->side(); ++to) {
      const std::uint64_t bytes = traffic->Bytes(from, to, traffic->side(), 0);
      Require(bytes % 16 == 0, "cells are cut to 16 bytes", text);
      written += (to == 0 ? "" : " ") + std::to_string(bytes);
    }
    written += '\n';
  }
  const auto most = traffic->MostElements(1, traffic->side(), 0);
  Require(most.sent % 16 == 0 && most.received % 16 == 0, "sums do not wrap around", text);
  if (most.sent > (1ULL << 53U)) return;  // what a double holds exactly
  const auto again = bench::Traffic::FromMatrix(written, "written", 1);
  Require(again.ok() && again->side() == traffic->side(), "a written matrix can be read", written);
  const auto same = again->MostElements(1, again->side(), 0);
  Require(same.sent == most.sent && same.received == most.received, "a written matrix is read as it was", written);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const double scale : {1.0, 0.5, 1e6}) nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size), scale);
  return 0;
}
