// SPDX-License-Identifier: Apache-2.0
#include "bench/doubt_facts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/directory_tree.h"
#include "hw/test_machine.h"

namespace nccl_tune::bench {
namespace {

Snapshot Read(const std::string& lines, const std::vector<Link>& links = {}) {
  const hw::CaptureTree tree(hw::ParseMachine("nccl-tune-capture 1\nproc/x = 1\n" + lines));
  return ReadSnapshot(tree, links);
}

std::string Show(const Snapshot& snapshot) {
  const auto number = [](const auto& value) { return value ? std::to_string(*value) : "?"; };
  std::string out;
  for (const auto& clock : snapshot.clocks) {
    out += clock.name + " " + clock.governor + " " + clock.driver + " " + number(clock.limit) + "/" +
           number(clock.highest) + "; ";
  }
  out += "throttles " + number(snapshot.throttles) + "; load " + number(snapshot.load);
  for (const auto& link : snapshot.links) {
    out += "; " + link.link + " " + std::to_string(link.sent) + " " + std::to_string(link.received);
  }
  return out;
}

TEST(ReadSnapshotTest, ReadsWhatIsThere) {
  const std::string text = R"(proc/loadavg = 0.50 0.58 0.59 1/467 12345
in sys/devices/system/cpu
cpufreq/policy0/scaling_governor = performance
cpufreq/policy0/scaling_driver = intel_pstate
cpufreq/policy0/scaling_max_freq = 3000000
cpufreq/policy0/cpuinfo_max_freq = 3500000
cpu0/thermal_throttle/core_throttle_count = 3
cpu0/thermal_throttle/package_throttle_count = 4
cpu1/thermal_throttle/core_throttle_count = 1
in sys/class/infiniband/mlx5_7/ports/1/counters
port_xmit_data = 100
port_rcv_data = 200
in sys/class/net/eno1/statistics
tx_bytes = 7
rx_bytes = 18446744073709551615
)";
  EXPECT_EQ(Show(Read(text, {{"mlx5_7", 1}, {"eno1", 0}, {"gone", 0}, {"mlx5_7", 2}})),
            "policy0 performance intel_pstate 3000000/3500000; throttles 8; load 0.500000; mlx5_7:1 400 800; eno1 7 "
            "18446744073709551615");
  EXPECT_EQ(Show(Read(text)), "policy0 performance intel_pstate 3000000/3500000; throttles 8; load 0.500000");
}

TEST(ReadSnapshotTest, WhatIsAbsentOrOddIsUnknown) {
  const struct {
    const char* text;
    const char* shown;
  } rows[] = {
      {"", "throttles ?; load ?"},
      {"proc/loadavg = \n", "throttles ?; load ?"},
      {"proc/loadavg = busy\n", "throttles ?; load ?"},
      {"proc/loadavg = -1 0 0\n", "throttles ?; load ?"},
      {"proc/loadavg = nan 0 0\n", "throttles ?; load ?"},
      {"proc/loadavg ! EIO\n", "throttles ?; load ?"},
      {"sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq = <unknown>\n", "policy0   ?/?; throttles ?; load ?"},
      {"sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq = -5\n", "policy0   ?/?; throttles ?; load ?"},
      {"sys/devices/system/cpu/cpufreq/policy0/scaling_governor ! EACCES\n", "policy0   ?/?; throttles ?; load ?"},
      {"sys/devices/system/cpu/cpufreq/policyx/scaling_max_freq = 1\n", "throttles ?; load ?"},
      {"sys/devices/system/cpu/cpufreq/boost = 1\n", "throttles ?; load ?"},
      {"sys/devices/system/cpu/cpuidle/thermal_throttle/core_throttle_count = 9\n", "throttles ?; load ?"},
      {"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count = x\n", "throttles ?; load ?"},
      {"sys/class/net/eno1/statistics/tx_bytes = 1\n", "throttles ?; load ?"},
      {"sys/class/net/eno1/statistics/tx_bytes = 1\nsys/class/net/eno1/statistics/rx_bytes ! EINVAL\n",
       "throttles ?; load ?"},
      {"sys/class/infiniband/mlx5_7/ports/1/counters/port_xmit_data = N/A\n"
       "sys/class/infiniband/mlx5_7/ports/1/counters/port_rcv_data = N/A\n",
       "throttles ?; load ?"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Show(Read(row.text, {{"eno1", 0}, {"mlx5_7", 1}, {"../../proc", 0}, {"", 0}})), row.shown) << row.text;
  }
}

TEST(ReadSnapshotTest, ReadsThisMachine) {
  const auto root = hw::DirectoryTree::Open("/");
  ASSERT_TRUE(root.ok());
  const Snapshot got = ReadSnapshot(*root.value(), {{"lo", 0}});
  EXPECT_TRUE(got.load);
  ASSERT_EQ(got.links.size(), 1U);
  EXPECT_EQ(got.links[0].link, "lo");
}

}  // namespace
}  // namespace nccl_tune::bench
