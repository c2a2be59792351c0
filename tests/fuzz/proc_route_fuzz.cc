// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hw/ip_facts.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// Route tables of procfs: what is read of them is a route that can be written and read again.
void TryOne(std::string_view text) {
  for (const auto parse : {hw::ParseProcRoute, hw::ParseProcIpv6Route}) {
    std::vector<facts::Note> notes;
    const auto routes = parse(text, &notes);
    for (const auto& route : routes) {
      Require(!route.interface.empty(), "a route has an interface", text);
      Require(!route.destination || route.destination->Network() == *route.destination, "a route names a network",
              text);
    }
    for (const auto& note : notes) Require(!note.what.empty(), "a note says what is wrong", note.where);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
