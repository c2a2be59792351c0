// SPDX-License-Identifier: Apache-2.0
#include "launcher/read_entry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/capture_tree.h"

namespace nccl_tune::launcher {
namespace {

constexpr const char* kMachine = R"(nccl-tune-capture 1
in sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1
class = 0x020000
vendor = 0x15b3
in sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband/mlx5_2
device -> ../../../0000:03:00.1
node_type = 1: CA
ports/1/state = 4: ACTIVE
ports/1/link_layer = Ethernet
ports/1/rate = 25 Gb/sec (1X EDR)
ports/1/gids/0 = 0000:0000:0000:0000:0000:ffff:ac14:000b
ports/1/gid_attrs/types/0 = RoCE v2
ports/1/gid_attrs/ndevs/0 = ens5f1
in sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/net/ens5f1
mtu = 9000
ifindex = 3
flags = 0x1003
operstate = up
type = 1
device -> ../../../0000:03:00.1
in sys/class/infiniband
mlx5_2 -> ../../devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband/mlx5_2
in sys/class/net
ens5f1 -> ../../devices/pci0000:00/0000:00:03.0/0000:03:00.1/net/ens5f1
in .
ip-addr.json <<
| [{"ifindex":3,"ifname":"ens5f1","flags":["UP"],"link_type":"ether","addr_info":[
| {"local":"172.20.0.11","prefixlen":24,"scope":"global"}]}]
ip-route.json <<
| [{"dst":"172.20.0.0/24","dev":"ens5f1","flags":[]}]
usr/lib64/libnccl.so.2 -> libnccl.so.2.28.9
usr/lib64/libnccl.so.2.28.9 = x
etc/nccl.conf = NCCL_IB_RETRY_CNT=7
proc/driver/nvidia/version = NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build
)";

constexpr const char* kPlan =
    R"({"v":1,"set":{"NCCL_IB_HCA":"=mlx5_2:1","NCCL_SOCKET_IFNAME":"=ens5f1"},"ports":[{"hca":"mlx5_2","port":1,)"
    R"("link":"Ethernet","gbps":25,"netdev":"ens5f1","gid":0}],"if":"ens5f1","addr":"172.20.0.11"})";

NodeEntry Read(const base::Environment& environment, const char* machine = kMachine) {
  auto capture = hw::ParseCapture(machine, "machine");
  EXPECT_TRUE(capture.ok()) << (capture.ok() ? "" : capture.error().ToString());
  const hw::CaptureTree tree(std::move(capture).value_or(hw::Capture{}));
  std::vector<facts::Note> notes;
  const auto ip = hw::ReadIpFiles(tree, &notes);
  return ReadOwnNode(tree, ip, {.rank = 4, .size = 8, .node_id = 1, .node = "server2"}, environment).entry;
}

TEST(ReadEntryTest, WithAPlan) {
  EXPECT_EQ(EncodeEntry(Read({{"NCCL_TUNE_PLAN", kPlan},
                              {"NCCL_IB_HCA", "=mlx5_2:1"},
                              {"NCCL_SOCKET_IFNAME", "=ens5f1"},
                              {"SLURM_GTIDS", "4,5,6,7"},
                              {"SLURM_GPUS_ON_NODE", "4"}})),
            R"({"v":2,"n":"server2","i":1,"r":"4-7","net":"172.20.0.0/24","rail":true,"plan":true,"own":"hgti",)"
            R"("k":"E25m9000g4r2","w":"172.20.0.0/24","l":"u","user":{"IB_RETRY_CNT":"7"},"nccl":"2.28.9",)"
            R"("drv":"570.86.15","gpus":4,"us":"0.1.0"})");
}

TEST(ReadEntryTest, WithoutAPlan) {
  for (const char* plan : {"", "{", "{\"v\":2}"}) {
    EXPECT_EQ(EncodeEntry(Read({{"NCCL_TUNE_PLAN", plan}, {"NCCL_IB_HCA", "mlx5"}})),
              R"({"v":2,"n":"server2","i":1,"r":"4","k":"E25m9000g4r2","w":"172.20.0.0/24","l":"u",)"
              R"("user":{"IB_HCA":"mlx5","IB_RETRY_CNT":"7"},"nccl":"2.28.9","drv":"570.86.15","gpus":0,"us":"0.1.0"})")
        << plan;
  }
}

TEST(ReadEntryTest, AnotherNodesPlanTellsNoMeeting) {
  std::string plan = kPlan;
  plan.replace(plan.find("172.20.0.11"), 11, "172.20.0.12");
  const auto entry = Read({{"NCCL_TUNE_PLAN", plan}, {"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_SOCKET_IFNAME", "=ens5f1"}});
  EXPECT_EQ(entry.network, std::nullopt);
  EXPECT_FALSE(entry.on_rail);
}

TEST(ReadEntryTest, ThePolicysWordStands) {
  struct Row {
    const char* policy;
    Changeable left;
  };
  const std::vector<Row> rows = {
      {"# nothing\n", {.rails = true, .gid = true, .traffic_class = true, .interface = true}},
      {"[variables]\ndeny = [\"NCCL_IB_TC\"]\n", {.rails = true, .gid = true, .interface = true}},
      {"[variables]\ndeny = [\"NCCL_IB_ADDR_*\"]\n", {.rails = true, .traffic_class = true, .interface = true}},
      {"[traffic_class]\ntc = 106\n", {.rails = true, .gid = true, .interface = true}},
      {"bootstrap = \"ens5f1\"\n", {.rails = true, .gid = true, .traffic_class = true}},
  };
  for (const auto& row : rows) {
    std::string machine = kMachine;
    machine += "etc/nccl-tune/nccl-tune.toml <<\n";
    for (std::string text = row.policy; !text.empty(); text.erase(0, text.find('\n') + 1))
      machine += "| " + text.substr(0, text.find('\n')) + "\n";
    const auto entry = Read(
        {{"NCCL_TUNE_PLAN", kPlan}, {"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_SOCKET_IFNAME", "=ens5f1"}}, machine.c_str());
    EXPECT_EQ(entry.changeable, row.left) << row.policy;
  }
}

TEST(ReadEntryTest, WhatCannotBeReadIsUnknown) {
  const auto entry = Read({{"SLURM_GTIDS", "x"}, {"SLURM_GPUS_ON_NODE", "-1"}}, "nccl-tune-capture 1\nin .\na = 1\n");
  EXPECT_EQ(EncodeEntry(entry), R"({"v":2,"n":"server2","i":1,"r":"4","us":"0.1.0"})");
}

}  // namespace
}  // namespace nccl_tune::launcher
