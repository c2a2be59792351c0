// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/facts/ip_address.h"
#include "hw/scrub.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// Scrubbing what is scrubbed changes nothing, by the same scrubber and by a fresh one.
void TryOne(std::string_view text) {
  hw::Scrubber scrubber;
  hw::Scrubber fresh;
  const std::string mac = scrubber.Mac(text);
  Require(mac.empty() || (scrubber.Mac(mac) == mac && fresh.Mac(mac) == mac), "a MAC address stays scrubbed", mac);
  const std::string guid = scrubber.Guid(text);
  Require(guid.empty() || (scrubber.Guid(guid) == guid && fresh.Guid(guid) == guid), "a GUID stays scrubbed", guid);
  const std::string gid = scrubber.Gid(text);
  Require(gid.empty() || (scrubber.Gid(gid) == gid && fresh.Gid(gid) == gid), "a GID stays scrubbed", gid);
  const std::string name = scrubber.Name(text);
  Require(scrubber.Name(name) == name && fresh.Name(name) == name, "a name stays scrubbed", name);
  const auto address = facts::ParseIpAddress(text);
  if (!address.ok()) return;
  const auto scrubbed = scrubber.Address(*address);
  Require(scrubber.Address(scrubbed) == scrubbed && fresh.Address(scrubbed) == scrubbed, "an address stays scrubbed",
          scrubbed.ToString());
  Require(scrubbed.IsV4() == address->IsV4(), "an address keeps its family", scrubbed.ToString());
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
