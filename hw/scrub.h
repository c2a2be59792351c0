// SPDX-License-Identifier: Apache-2.0
//
// Replaces what names a machine or its owner (MAC addresses, GUIDs, public addresses) by values of the same shape. The
// same input gives the same output within one Scrubber, so that what belongs together still does. Its own output it
// leaves as it is, so that scrubbing twice changes nothing.
#ifndef NCCL_TUNE_HW_SCRUB_H_
#define NCCL_TUNE_HW_SCRUB_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/facts/ip_address.h"

namespace nccl_tune::hw {

class Scrubber {
 public:
  // "aa:bb:cc:dd:ee:ff" -> "02:00:5e:00:00:01"; text of another form (an InfiniBand hardware address) -> empty.
  std::string Mac(std::string_view text);
  // "xxxx:xxxx:xxxx:xxxx" -> "0200:5eff:fe01:0001"; zeros stay; other text -> empty.
  std::string Guid(std::string_view text);
  // Interface names that hold a MAC address ("enxaabbccddeeff"); others stay.
  std::string Name(std::string_view name);
  // Public networks become 100.64.0.0/10 and 2001:db8::/32, interface identifiers follow the MAC addresses; private,
  // link-local and loopback networks stay.
  facts::IpAddress Address(facts::IpAddress address);
  // As Address, in the 8 groups of a GID file; text of another form -> empty.
  std::string Gid(std::string_view text);

 private:
  using Half = std::array<std::uint8_t, 8>;

  std::uint16_t MacNumber(std::uint64_t mac);
  Half InterfaceIdentifier(const Half& id);

  std::map<std::uint64_t, std::uint16_t> macs_;
  std::map<Half, std::uint16_t> identifiers_;
  std::map<std::uint16_t, std::uint8_t> networks4_;
  std::map<Half, std::uint16_t> networks6_;
};

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_SCRUB_H_
