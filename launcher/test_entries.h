// SPDX-License-Identifier: Apache-2.0
//
// For tests only: nodes that are alike, with 8 rails of 400 Gbit/s on networks of their own, to be changed one by one.
#ifndef NCCL_TUNE_LAUNCHER_TEST_ENTRIES_H_
#define NCCL_TUNE_LAUNCHER_TEST_ENTRIES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "launcher/node_entry.h"

namespace nccl_tune::launcher {

// The node `server<number>`, its node id one less.
inline NodeEntry MakeTestEntry(std::uint32_t number, std::size_t rails = 8) {
  NodeEntry out;
  out.node = "server" + std::to_string(number);
  out.node_id = number - 1;
  out.ranks = std::to_string(out.node_id * 8) + "-" + std::to_string(out.node_id * 8 + 7);
  out.address = "10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256);
  out.port = 20'000;
  out.network = "172.20.0.0/24";
  out.on_rail = true;
  out.planned = true;
  out.changeable = {.rails = true, .gid = true, .traffic_class = true, .interface = true};
  for (std::size_t i = 0; i < rails; ++i) {
    Rail rail{.ethernet = true, .gbps = 400, .mtu = 9000, .families = "46", .roce = 2};
    rail.network = facts::ParseIpPrefix("172.20." + std::to_string(i) + ".0/24").value_or({});
    out.rails.push_back(rail);
  }
  out.layout = std::string(rails, 'u') + "oo";
  out.planned_values["NCCL_IB_TC"] = "106";
  out.user_values["NCCL_IB_TIMEOUT"] = "20";
  out.nccl = "2.28.9";
  out.driver = "570.86.15";
  out.gpus = 8;
  out.gpu_model = "NVIDIA H200";
  out.version = "0.1.0";
  return out;
}

inline std::vector<NodeEntry> MakeTestEntries(std::uint32_t count) {
  std::vector<NodeEntry> out;
  for (std::uint32_t number = 1; number <= count; ++number) out.push_back(MakeTestEntry(number));
  return out;
}

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_TEST_ENTRIES_H_
