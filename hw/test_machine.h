// SPDX-License-Identifier: Apache-2.0
//
// For tests only: one small machine as a capture, and trees that spoil or count what is read of it.
#ifndef NCCL_TUNE_HW_TEST_MACHINE_H_
#define NCCL_TUNE_HW_TEST_MACHINE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"
#include "hw/capture_tree.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// A RoCE card with one active and one unplugged port, an InfiniBand card, a software device, a GPU, a management
// interface, a bond and a USB interface whose name holds its MAC address.
inline constexpr std::string_view kMachineText = R"(nccl-tune-capture 1
: name small
in sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1
class = 0x020000
vendor = 0x15b3
numa_node = 1
driver -> ../../../../bus/pci/drivers/mlx5_core
in sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband/mlx5_2
device -> ../../../0000:03:00.1
node_type = 1: CA
board_id = MT_0000000080
node_guid = 0c42:a103:0003:0003
sys_image_guid = 0c42:a103:0003:0002
ports/1/state = 4: ACTIVE
ports/1/link_layer = Ethernet
ports/1/rate = 25 Gb/sec (1X EDR)
ports/1/lid = 0x1
ports/1/sm_lid = 0x0
ports/1/gids/0 = fe80:0000:0000:0000:0e42:a1ff:fe03:0003
ports/1/gids/1 = fe80:0000:0000:0000:0e42:a1ff:fe03:0003
ports/1/gids/2 = 0000:0000:0000:0000:0000:ffff:ac14:000b
ports/1/gids/3 = 0000:0000:0000:0000:0000:ffff:ac14:000b
ports/1/gids/4 = 0000:0000:0000:0000:0000:0000:0000:0000
ports/1/gids/10 = 2a00:1450:4001:0800:0e42:a1ff:fe03:0003
ports/1/gid_attrs/types/0 = IB/RoCE v1
ports/1/gid_attrs/types/1 = RoCE v2
ports/1/gid_attrs/types/2 = IB/RoCE v1
ports/1/gid_attrs/types/3 = RoCE v2
ports/1/gid_attrs/types/4 ! EINVAL
ports/1/gid_attrs/types/10 = RoCE v2
ports/1/gid_attrs/ndevs/0 = ens5f1
ports/1/gid_attrs/ndevs/1 = ens5f1
ports/1/gid_attrs/ndevs/2 = ens5f1
ports/1/gid_attrs/ndevs/3 = ens5f1
ports/1/gid_attrs/ndevs/4 ! EINVAL
ports/1/gid_attrs/ndevs/10 = ens5f1
ports/2/state = 1: DOWN
ports/2/link_layer = Ethernet
ports/2/rate = 10 Gb/sec (1X)
ports/2/gids/0 = fe80:0000:0000:0000:0e42:a1ff:fe03:0004
ports/2/gid_attrs/types/0 = IB/RoCE v1
ports/2/gid_attrs/ndevs/0 = ens11f2
in sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband_verbs/uverbs1
ibdev = mlx5_2
device -> ../../../0000:03:00.1
in sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/net/ens5f1
device -> ../../../0000:03:00.1
ifindex = 4
type = 1
flags = 0x1003
operstate = up
mtu = 9000
speed = 25000
address = 0c:42:a1:03:00:03
in sys/devices/pci0000:00/0000:00:02.0/0000:02:00.0
class = 0x020700
vendor = 0x15b3
numa_node = -1
driver -> ../../../../bus/pci/drivers/mlx5_core
physfn -> ../../0000:00:03.0/0000:03:00.1
in sys/devices/pci0000:00/0000:00:02.0/0000:02:00.0/infiniband/mlx5_0
device -> ../../../0000:02:00.0
node_type = 1: CA
sys_image_guid = 0c42:a103:0009:0001
ports/1/state = 4: ACTIVE
ports/1/link_layer = InfiniBand
ports/1/rate = 200 Gb/sec (4X HDR)
ports/1/lid = 0x12
ports/1/sm_lid = 0x1
ports/1/gids/0 = fe80:0000:0000:0000:0c42:a103:0009:0001
in sys/devices/pci0000:00/0000:00:02.0/0000:02:00.0/infiniband_verbs/uverbs0
ibdev = mlx5_0
in sys/devices/virtual/infiniband/rxe0
node_type = 1: CA
ports/1/state = 4: ACTIVE
ports/1/link_layer = Ethernet
ports/1/rate = 2.5 Gb/sec (1X SDR)
ports/1/gids/0 = 0000:0000:0000:0000:0000:ffff:0808:0404
ports/1/gid_attrs/types/0 = RoCE v2
ports/1/gid_attrs/ndevs/0 = eno1
in sys/devices/pci0000:00/0000:00:04.0/0000:04:00.0
class = 0x030200
vendor = 0x10de
numa_node = 0
in sys/devices/pci0000:00/0000:00:05.0
class = 0x020000
vendor = 0x8086
driver -> ../../../bus/pci/drivers/igb
in sys/devices/pci0000:00/0000:00:05.0/net/eno1
device -> ../../../0000:00:05.0
ifindex = 2
type = 1
flags = 0x1003
operstate = up
mtu = 1500
speed = 1000
master -> ../../../../virtual/net/bond0
address = 0c:42:a1:03:00:07
in sys/devices/pci0000:00/0000:00:06.0/usb1/1-1/1-1:1.0
interface = x
in sys/devices/pci0000:00/0000:00:06.0/usb1/1-1/1-1:1.0/net/enx0c42a1030008
device -> ../../../1-1:1.0
ifindex = 7
type = 1
flags = 0x1002
operstate = down
speed ! EINVAL
address = 0c:42:a1:03:00:08
in sys/devices/virtual/net/bond0
ifindex = 5
type = 1
flags = 0x1003
operstate = up
mtu = 1500
bonding/mode = x
in sys/devices/virtual/net/lo
ifindex = 1
type = 772
flags = 0x9
operstate = unknown
mtu = 65536
in sys/class/infiniband
mlx5_0 -> ../../devices/pci0000:00/0000:00:02.0/0000:02:00.0/infiniband/mlx5_0
mlx5_2 -> ../../devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband/mlx5_2
rxe0 -> ../../devices/virtual/infiniband/rxe0
in sys/class/infiniband_verbs
abi_version = 6
uverbs0 -> ../../devices/pci0000:00/0000:00:02.0/0000:02:00.0/infiniband_verbs/uverbs0
uverbs1 -> ../../devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband_verbs/uverbs1
in sys/class/net
bonding_masters = bond0
bond0 -> ../../devices/virtual/net/bond0
eno1 -> ../../devices/pci0000:00/0000:00:05.0/net/eno1
ens5f1 -> ../../devices/pci0000:00/0000:00:03.0/0000:03:00.1/net/ens5f1
enx0c42a1030008 -> ../../devices/pci0000:00/0000:00:06.0/usb1/1-1/1-1:1.0/net/enx0c42a1030008
lo -> ../../devices/virtual/net/lo
in sys/bus/pci/devices
0000:02:00.0 -> ../../../devices/pci0000:00/0000:00:02.0/0000:02:00.0
0000:03:00.1 -> ../../../devices/pci0000:00/0000:00:03.0/0000:03:00.1
0000:04:00.0 -> ../../../devices/pci0000:00/0000:00:04.0/0000:04:00.0
0000:00:05.0 -> ../../../devices/pci0000:00/0000:00:05.0
in sys/bus/pci/drivers
mlx5_core /
igb /
in dev/infiniband
uverbs0 * -
uverbs1 * rw
in .
ip-addr.json <<
| [{"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP"],"link_type":"loopback","address":"00:00:00:00:00:00",
| "addr_info":[{"local":"127.0.0.1","prefixlen":8,"scope":"host"}]},
| {"ifindex":2,"ifname":"eno1","flags":["UP"],"link_type":"ether","address":"0c:42:a1:03:00:07","addr_info":[]},
| {"ifindex":4,"ifname":"ens5f1","flags":["UP"],"link_type":"ether","address":"0c:42:a1:03:00:03","addr_info":[
| {"local":"172.20.0.11","prefixlen":24,"scope":"global"},
| {"local":"2a00:1450:4001:800:e42:a1ff:fe03:3","prefixlen":64,"scope":"global"},
| {"local":"fe80::e42:a1ff:fe03:3","prefixlen":64,"scope":"link"}]},
| {"ifindex":5,"ifname":"bond0","flags":["UP"],"linkinfo":{"info_kind":"bond"},"addr_info":[
| {"local":"8.8.4.4","prefixlen":24,"scope":"global"}]},
| {"ifindex":7,"ifname":"enx0c42a1030008","flags":[],"link_type":"ether","address":"0c:42:a1:03:00:08","addr_info":[
| {"local":"169.254.3.1","prefixlen":17,"scope":"global"}]}]
ip-route.json <<
| [{"dst":"default","gateway":"8.8.4.1","dev":"bond0","metric":100,"flags":[]},
| {"dst":"8.8.4.0/24","dev":"bond0","flags":[]},{"dst":"172.20.0.0/24","dev":"ens5f1","flags":[]}]
)";

// The capture; a text that cannot be read fails the test and gives an empty one.
inline Capture ParseMachine(std::string_view text) {
  auto capture = ParseCapture(text, "test machine");
  EXPECT_TRUE(capture.ok()) << (capture.ok() ? "" : capture.error().ToString());
  return std::move(capture).value_or(Capture{});
}

// Another tree with one place spoilt: what stands at it or leads to it (by its resolved path) gives `error`.
class SpoiltTree : public Tree {
 public:
  SpoiltTree(const Tree& tree, std::string path, base::Code code)
      : tree_(tree), path_(std::move(path)), error_{.code = code, .what = "spoilt"} {}

  using Tree::Read;
  base::Result<std::string> Read(std::string_view path, std::size_t limit) const override {
    if (Hits(path)) return error_;
    return tree_.Read(path, limit);
  }
  base::Result<std::vector<std::string>> List(std::string_view path) const override {
    if (Hits(path)) return error_;
    return tree_.List(path);
  }
  base::Result<std::string> Resolve(std::string_view path) const override {
    if (path == path_) return error_;
    return tree_.Resolve(path);
  }
  facts::Openable CheckOpenable(std::string_view path) const override { return tree_.CheckOpenable(path); }

 private:
  bool Hits(std::string_view path) const {
    const auto real = tree_.Resolve(path);
    return path == path_ || (real.ok() && *real == path_);
  }

  const Tree& tree_;
  std::string path_;
  base::Error error_;
};

// Another tree that counts how often each file is read, by its resolved path where there is one.
class CountingTree : public Tree {
 public:
  explicit CountingTree(const Tree& tree) : tree_(tree) {}

  using Tree::Read;
  base::Result<std::string> Read(std::string_view path, std::size_t limit) const override {
    ++reads_[tree_.Resolve(path).value_or(std::string(path))];
    return tree_.Read(path, limit);
  }
  base::Result<std::vector<std::string>> List(std::string_view path) const override { return tree_.List(path); }
  base::Result<std::string> Resolve(std::string_view path) const override { return tree_.Resolve(path); }
  facts::Openable CheckOpenable(std::string_view path) const override { return tree_.CheckOpenable(path); }

  const std::map<std::string, int>& reads() const { return reads_; }

 private:
  const Tree& tree_;
  mutable std::map<std::string, int> reads_;
};

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_TEST_MACHINE_H_
