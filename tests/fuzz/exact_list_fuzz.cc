// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/nccl/check_value.h"
#include "core/nccl/name_list.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/node_from_bytes.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// A list that we write is read back by every version of NCCL as just these names and ports.
void TryOne(ByteReader bytes) {
  const auto version = VersionFromBytes(&bytes);
  std::vector<nccl::NamedPort> ports(bytes.Below(36));
  for (auto& port : ports) {
    port.name = bytes.Text(70);
    if (bytes.Flag()) port.port = static_cast<int>(bytes.Byte()) + static_cast<int>(bytes.Below(2));
  }
  const auto text = nccl::FormatExactList(ports);
  if (!text.ok()) return RequireReadable(text.error());
  const auto list = nccl::ParseHcaList(*text, version);
  Require(list.exact && !list.exclude && list.dropped == 0, "a list is exact and whole", *text);
  Require(list.entries.size() == ports.size(), "a list has every name once", *text);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    Require(list.entries[i].name == ports[i].name, "a name is read as it is written", *text);
    Require(list.entries[i].port == ports[i].port.value_or(nccl::kAnyNumber), "so is a port", *text);
  }
  Require(nccl::CheckValue("NCCL_IB_HCA", *text).ok(), "a list that we write is legal", *text);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
