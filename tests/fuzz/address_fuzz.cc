// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/facts/ip_address.h"
#include "core/facts/pci_address.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryIp(const facts::IpAddress& address) {
  const auto again = facts::ParseIpAddress(address.ToString());
  Require(again.ok() && *again == address, "an address is read as it is written", address.ToString());
  Require(!address.IsRoutable() || !(address.IsLinkLocal() || address.IsLoopback()), "a routable one leaves the link");
  for (const int length : {-1, 0, 1, 31, 32, 33, 64, 127, 128, 129}) {
    const auto prefix = facts::MakePrefix(address, length);
    Require(prefix.ok() == (length >= 0 && length <= (address.IsV4() ? 32 : 128)), "a length fits the family");
    if (!prefix.ok()) continue;
    Require(prefix->Contains(address) && prefix->Network().Contains(address), "a network holds its address");
    Require(prefix->Network().Network() == prefix->Network(), "a network is its own network");
  }
}

// Addresses, GIDs and PCI addresses: what is read is written in the one right form.
void TryOne(std::string_view text) {
  const auto ip = facts::ParseIpAddress(text);
  if (ip.ok()) TryIp(*ip);
  if (!ip.ok()) RequireReadable(ip.error());
  const auto gid = facts::ParseGid(text);
  if (gid.ok()) TryIp(*gid);
  if (!gid.ok()) RequireReadable(gid.error());
  const auto pci = facts::ParsePciAddress(text);
  if (!pci.ok()) return RequireReadable(pci.error());
  const auto again = facts::ParsePciAddress(pci->ToString());
  Require(again.ok() && *again == *pci, "a PCI address is read as it is written", text);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
