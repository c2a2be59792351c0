// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/node_from_bytes.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/nccl/variables.h"

namespace nccl_tune::fuzz {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kHcas[] = {"mlx5_0", "mlx5_1", "mlx5_10",  "mlx5_bond_0", "bnxt_re0", "rocep1s0f0",
                                      "efa_0",  "irdma0", "rxe_eth0", "siw0",        "=mlx5_0",  "a,b:1"};
constexpr std::string_view kNetdevs[] = {"eth0",  "eth1",  "ib0",  "ibp1s0", "lo",       "docker0", "virbr0", "hsn0",
                                         "bond0", "vlan5", "eno1", "usb0",   "enp1s0f0", "^eth0",   "e th",   "eth0,x"};
constexpr std::string_view kDrivers[] = {"",      "mlx5_core", "mlx4_core", "bnxt_en", "efa", "cxi_ss1",
                                         "ionic", "irdma",     "gve",       "mana",    "igb", "cdc_ether"};
constexpr std::string_view kBoards[] = {"", "MT_0000000838", "MT_0000000224"};
constexpr std::string_view kValues[] = {
    "",         "0",         "1",        "3",      "-1",         "=eth0",    "^lo,docker", "mlx5",
    "^=mlx5_0", "=mlx5_0:1", "AF_INET6", "Socket", "10.0.0.0/8", "fd00::/8", "10.0.0.1:5", "[fe80::1%eth0]:5"};

std::string NameFromBytes(ByteReader* bytes, Names from) {
  const std::size_t choice = bytes->Below(from.size() + 1);
  return choice == from.size() ? bytes->Text(80) : std::string(from[choice]);
}

template <typename Make>
auto Maybe(ByteReader* bytes, Make make) -> std::optional<decltype(make())> {
  if (!bytes->Flag()) return std::nullopt;
  return make();
}

facts::PciAddress PciFromBytes(ByteReader* bytes) {
  const std::uint32_t domain = bytes->Flag() ? bytes->Word() : 0;
  return {.domain = domain,
          .bus = bytes->Byte(),
          .device = static_cast<std::uint8_t>(bytes->Below(4)),
          .function = static_cast<std::uint8_t>(bytes->Below(3))};
}

std::vector<facts::PciAddress> PathFromBytes(ByteReader* bytes) {
  std::vector<facts::PciAddress> out(bytes->Below(4));
  for (auto& address : out) address = PciFromBytes(bytes);
  return out;
}

facts::GbitPerSecond RateFromBytes(ByteReader* bytes) {
  constexpr double kRates[] = {1, 10, 25, 40, 100, 200, 400, 0.5, 99999};
  return {bytes->Pick<double>(kRates)};
}

int NumaFromBytes(ByteReader* bytes) { return static_cast<int>(bytes->Below(3)); }

facts::Hca HcaFromBytes(ByteReader* bytes) {
  facts::Hca out;
  out.name = NameFromBytes(bytes, kHcas);
  out.node_type = Maybe(bytes, [&] { return static_cast<facts::NodeType>(bytes->Below(3)); });
  out.pci = Maybe(bytes, [&] { return PciFromBytes(bytes); });
  out.numa_node = Maybe(bytes, [&] { return NumaFromBytes(bytes); });
  out.driver = NameFromBytes(bytes, kDrivers);
  out.board = NameFromBytes(bytes, kBoards);
  out.image_guid = NameFromBytes(bytes, kBoards);
  out.is_virtual_function = bytes->Below(8) == 1;
  out.is_software = bytes->Below(8) == 1;
  out.pci_path = PathFromBytes(bytes);
  out.uverbs = Maybe(bytes, [] { return std::string("uverbs0"); });
  out.openable = static_cast<facts::Openable>(bytes->Below(4));
  out.ports.resize(bytes->Below(4));
  int number = 0;
  for (auto& port : out.ports) {
    port = PortFromBytes(bytes);
    port.number = number += 1 + static_cast<int>(bytes->Below(2));
  }
  return out;
}

facts::Netdev NetdevFromBytes(ByteReader* bytes, int ifindex) {
  facts::Netdev out;
  out.name = NameFromBytes(bytes, kNetdevs);
  out.ifindex = ifindex;
  out.kind = static_cast<facts::NetdevKind>(bytes->Below(11));
  out.admin_up = bytes->Below(4) != 1;
  out.running = out.admin_up && bytes->Below(4) != 1;
  out.mtu = Maybe(bytes, [&] { return static_cast<int>(bytes->Byte()) * 256; });
  out.speed = Maybe(bytes, [&] { return RateFromBytes(bytes); });
  out.pci = Maybe(bytes, [&] { return PciFromBytes(bytes); });
  out.numa_node = Maybe(bytes, [&] { return NumaFromBytes(bytes); });
  out.driver = NameFromBytes(bytes, kDrivers);
  out.master = Maybe(bytes, [&] { return NameFromBytes(bytes, kNetdevs); });
  out.is_usb = bytes->Below(8) == 1;
  out.addresses.resize(bytes->Below(4));
  for (auto& address : out.addresses) {
    const auto ip = AddressFromBytes(bytes);
    const int longest = ip.IsV4() ? 32 : 128;
    address = {.prefix = {.address = ip, .length = bytes->Byte() % (longest + 1)}, .link_scope = bytes->Below(8) == 1};
  }
  return out;
}

// Mostly one lossless priority and one DSCP for it: where they differ between ports is what matters.
std::optional<facts::Dcb> DcbFromBytes(ByteReader* bytes) {
  return Maybe(bytes, [&] {
    constexpr std::uint8_t kPriorities[] = {8, 8, 8, 16, 0, 24};
    facts::Dcb out;
    out.pfc = kPriorities[bytes->Below(std::size(kPriorities))];
    out.dscp.resize(bytes->Below(4));
    int dscp = 26;
    for (auto& entry : out.dscp) {
      entry = {.dscp = dscp, .priority = bytes->Below(4) == 1 ? 4 : 3};
      dscp += static_cast<int>(bytes->Below(3));
    }
    if (bytes->Below(4) == 1) out.trust = bytes->Below(2) == 1 ? "pcp" : "dscp";
    return out;
  });
}

facts::Route RouteFromBytes(ByteReader* bytes) {
  facts::Route out;
  out.destination = Maybe(bytes, [&] {
    const auto ip = AddressFromBytes(bytes);
    return facts::IpPrefix{.address = ip, .length = bytes->Byte() % (ip.IsV4() ? 33 : 129)}.Network();
  });
  out.interface = NameFromBytes(bytes, kNetdevs);
  out.metric = bytes->Byte();
  return out;
}

}  // namespace

facts::IpAddress AddressFromBytes(ByteReader* bytes) {
  constexpr std::array<std::uint8_t, 4> kStarts[] = {{10, 0, 0, 0},  {10, 0, 1, 0}, {172, 20, 0, 0}, {169, 254, 1, 0},
                                                     {127, 0, 0, 0}, {8, 8, 8, 0},  {224, 0, 0, 0},  {0, 0, 0, 0}};
  facts::IpAddress out;
  const std::size_t kind = bytes->Below(12);
  if (kind < std::size(kStarts)) {
    out.bytes[10] = out.bytes[11] = 0xff;
    std::copy(kStarts[kind].begin(), kStarts[kind].end(), out.bytes.begin() + 12);
  } else if (kind < 11) {
    constexpr std::array<std::uint8_t, 2> kPrefixes[] = {{0xfe, 0x80}, {0xfd, 0x00}, {0x20, 0x01}};
    std::copy(kPrefixes[kind - 8].begin(), kPrefixes[kind - 8].end(), out.bytes.begin());
  } else {
    for (auto& byte : out.bytes) byte = bytes->Byte();
  }
  out.bytes[15] = bytes->Byte();
  return out;
}

facts::IbPort PortFromBytes(ByteReader* bytes) {
  facts::IbPort out;
  out.number = 1;
  // Mostly ACTIVE: nothing else is looked at closely.
  out.state = bytes->Below(4) != 1 ? facts::PortState::kActive : static_cast<facts::PortState>(bytes->Below(6));
  if (bytes->Below(16) == 1) out.state = std::nullopt;
  out.link_layer = Maybe(bytes, [&] { return static_cast<facts::LinkLayer>(bytes->Below(3)); });
  out.rate = Maybe(bytes, [&] { return RateFromBytes(bytes); });
  out.lid = Maybe(bytes, [&] { return std::uint32_t{bytes->Byte()}; });
  out.sm_lid = Maybe(bytes, [&] { return std::uint32_t{bytes->Byte()}; });
  out.netdev = Maybe(bytes, [&] { return NameFromBytes(bytes, kNetdevs); });
  out.gids.resize(bytes->Below(9));
  int index = -1;
  for (auto& gid : out.gids) {
    gid.index = index += 1 + (bytes->Below(8) == 1 ? static_cast<int>(bytes->Byte()) : 0);
    gid.address = AddressFromBytes(bytes);
    gid.version = Maybe(bytes, [&] { return static_cast<facts::RoceVersion>(bytes->Below(2)); });
    gid.netdev = Maybe(bytes, [&] { return NameFromBytes(bytes, kNetdevs); });
  }
  return out;
}

facts::Node NodeFromBytes(ByteReader* bytes) {
  facts::Node out;
  out.hcas.resize(bytes->Below(9));
  out.netdevs.resize(bytes->Below(9));
  out.gpus.resize(bytes->Below(9));
  out.routes.resize(bytes->Below(5));
  out.address = Maybe(bytes, [&] { return AddressFromBytes(bytes); });
  int ifindex = 0;
  for (auto& netdev : out.netdevs) netdev = NetdevFromBytes(bytes, ++ifindex);
  for (auto& hca : out.hcas) hca = HcaFromBytes(bytes);
  std::stable_sort(out.hcas.begin(), out.hcas.end(),
                   [](const auto& a, const auto& b) { return a.pci && (!b.pci || *a.pci < *b.pci); });
  for (auto& route : out.routes) route = RouteFromBytes(bytes);
  for (auto& gpu : out.gpus) {
    gpu.pci = PciFromBytes(bytes);
    gpu.numa_node = Maybe(bytes, [&] { return NumaFromBytes(bytes); });
    gpu.pci_path = PathFromBytes(bytes);
  }
  std::sort(out.gpus.begin(), out.gpus.end(), [](const auto& a, const auto& b) { return a.pci < b.pci; });
  for (auto& netdev : out.netdevs) netdev.dcb = DcbFromBytes(bytes);
  for (auto& hca : out.hcas) {
    for (auto& port : hca.ports) {
      if (bytes->Below(8) == 1) port.host_traffic_class = std::to_string(bytes->Byte());
    }
  }
  return out;
}

base::Environment EnvironmentFromBytes(ByteReader* bytes) {
  base::Environment out;
  const auto known = nccl::AllVariables();
  for (std::size_t left = bytes->Below(9); left > 0; --left) {
    const std::size_t choice = bytes->Byte();
    const std::string name = choice < known.size() ? std::string(known[choice].name) : bytes->Text(40);
    out.insert_or_assign(name, NameFromBytes(bytes, kValues));
  }
  return out;
}

nccl::NcclVersion VersionFromBytes(ByteReader* bytes) {
  return {2, 16 + static_cast<int>(bytes->Below(19)), static_cast<int>(bytes->Below(10))};
}

}  // namespace nccl_tune::fuzz
