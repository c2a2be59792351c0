// SPDX-License-Identifier: Apache-2.0
#include "bench/doubts.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace nccl_tune::bench {
namespace {

constexpr std::uint64_t kM = 1ULL << 20U;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string Joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) {
    for (const char* word : {"bandwidth", "FAILED", "Test failure", "out-of-place", " on ", "Rank", "device", "\n"}) {
      EXPECT_EQ((line + " ").find(word), std::string::npos) << line;
    }
    out += (out.empty() ? "" : " | ") + line;
  }
  return out;
}

// A node of 4 cores and a GPU, with a run of 2 ranks that moves 1 GB in 10 seconds; nothing is wrong.
NodeDoubts Quiet() {
  NodeDoubts out;
  out.node = "n1";
  out.host_memory = true;
  out.busy_threads = 2;
  out.usable_cores = 4;
  out.own_bytes = 1e9;
  out.own_processes = {100, 101};
  out.seconds = 10;
  out.before.clocks = {{.name = "policy0", .governor = "performance", .limit = 3000000, .highest = 3000000}};
  out.before.throttles = 5;
  out.before.load = 0.5;
  out.before.links = {{.link = "mlx5_7:1", .sent = 1000, .received = 1000}};
  out.before.gpus = {{.pci = {.bus = 0x18},
                      .processes = {},
                      .clock = 1980,
                      .highest_clock = 1980,
                      .power_held = 0,
                      .thermal_held = 0}};
  out.after = out.before;
  out.after.load = 2.2;
  out.after.links = {{.link = "mlx5_7:1", .sent = 900000000, .received = 900000000}};
  out.after.gpus[0].processes = {101};
  return out;
}

using Change = std::function<void(NodeDoubts*)>;

TEST(FindNodeDoubtsTest, AQuietNodeHasNone) {
  EXPECT_EQ(Joined(FindNodeDoubts(Quiet())), "");
  EXPECT_EQ(Joined(FindNodeDoubts({})), "");
}

TEST(FindNodeDoubtsTest, WhatIsWrongIsSaid) {
  const struct {
    Change change;
    const char* text;
  } rows[] = {
      {[](NodeDoubts* d) { d->after.clocks[0].limit = 1200000; },
       "n1: the clock of 1 of 1 groups of cores is limited to 1200 MHz of 3000 MHz (scaling_max_freq): `cpupower "
       "frequency-set -u` lifts it"},
      {[](NodeDoubts* d) { d->after.clocks[0].governor = "powersave"; },
       "n1: the governor of 1 groups of cores is powersave, their lowest clock: `cpupower frequency-set -g "
       "performance`"},
      {[](NodeDoubts* d) { d->after.throttles = 12; },
       "n1: cores were slowed down for heat 7 times during the run: look at the cooling and measure again"},
      {[](NodeDoubts* d) { d->after.load = 9.04; },
       "n1: the load is 9 with 2 busy threads of this run: others use the node too, or did a minute ago (--exclusive)"},
      {[](NodeDoubts* d) {
         d->usable_cores = 1;
         d->after.load = 50;  // follows from it
       },
       "n1: 2 ranks or threads share 1 core and wait for each other: give each its own (--cpus-per-task, fewer "
       "--ntasks-per-node)"},
      {[](NodeDoubts* d) { d->after.links[0].sent = 5000000000; },
       "n1: mlx5_7:1 has sent 5 GB during the run, which itself moves 1 GB at most: other traffic shares the link. "
       "Measure when it is quiet"},
      {[](NodeDoubts* d) { d->after.links[0].received = 2500000000; },
       "n1: mlx5_7:1 has received 2.5 GB during the run, which itself moves 1 GB at most: other traffic shares the "
       "link. Measure when it is quiet"},
      {[](NodeDoubts* d) {
         d->after.gpus[0].processes = {101, 4711};
       },
       "n1: GPU 0000:18:00.0 is used by 1 other process too (4711): `nvidia-smi` shows what they are; measure when "
       "they "
       "are gone"},
      {[](NodeDoubts* d) {
         d->after.gpus[0].processes = {1, 2, 3, 4, 100};
       },
       "n1: GPU 0000:18:00.0 is used by 4 other processes too (1, 2, 3, ...): `nvidia-smi` shows what they are; "
       "measure "
       "when they are gone"},
      {[](NodeDoubts* d) {
         d->after.gpus[0].throttle_reasons = 0x48 | 0x5;
         d->after.gpus[0].clock = 345;
       },
       "n1: GPU 0000:18:00.0 is slowed down (hardware slowdown, hardware thermal slowdown): 345 of 1980 MHz. "
       "`nvidia-smi -q -d PERFORMANCE` tells more"},
      {[](NodeDoubts* d) { d->after.gpus[0].thermal_held = 2500000000; },
       "n1: GPU 0000:18:00.0 was slowed down for heat during 25 % of the run: `nvidia-smi -q -d PERFORMANCE` tells "
       "more"},
      {[](NodeDoubts* d) { d->after.gpus[0].power_held = 99000000000; },
       "n1: GPU 0000:18:00.0 was slowed down for power during 100 % of the run: `nvidia-smi -q -d PERFORMANCE` tells "
       "more"},
  };
  for (const auto& row : rows) {
    NodeDoubts facts = Quiet();
    row.change(&facts);
    EXPECT_EQ(Joined(FindNodeDoubts(facts)), row.text);
  }
}

TEST(FindNodeDoubtsTest, WhatIsOddOrUnknownIsNoDoubt) {
  const struct {
    const char* why;
    Change change;
  } rows[] = {
      {"no clocks", [](NodeDoubts* d) { d->after.clocks.clear(); }},
      {"no limit", [](NodeDoubts* d) { d->after.clocks[0].limit.reset(); }},
      {"no highest", [](NodeDoubts* d) { d->after.clocks[0].highest.reset(); }},
      {"highest of 0", [](NodeDoubts* d) { d->after.clocks[0].highest = 0; }},
      {"the usual powersave",
       [](NodeDoubts* d) {
         d->after.clocks[0].governor = "powersave";
         d->after.clocks[0].driver = "intel_pstate";
       }},
      {"the usual powersave",
       [](NodeDoubts* d) {
         d->after.clocks[0].governor = "powersave";
         d->after.clocks[0].driver = "amd-pstate-epp";
       }},
      {"a low clock that a GPU does not wait for",
       [](NodeDoubts* d) {
         d->host_memory = false;
         d->after.clocks[0].limit = 1;
         d->after.load = 99;
         d->usable_cores = 1;
       }},
      {"throttle counts that went back", [](NodeDoubts* d) { d->after.throttles = 1; }},
      {"throttle counts of one end", [](NodeDoubts* d) { d->before.throttles.reset(); }},
      {"no load", [](NodeDoubts* d) { d->after.load.reset(); }},
      {"an odd load", [](NodeDoubts* d) { d->after.load = kNan; }},
      {"the load of the run itself", [](NodeDoubts* d) { d->after.load = 4.9; }},
      {"all cores busy", [](NodeDoubts* d) { d->busy_threads = 4; }},
      {"counters that went back", [](NodeDoubts* d) { d->after.links[0].sent = 0; }},
      {"a new link", [](NodeDoubts* d) { d->after.links[0].link = "mlx5_9:1"; }},
      {"no counters", [](NodeDoubts* d) { d->after.links.clear(); }},
      {"own traffic unknown",
       [](NodeDoubts* d) {
         d->own_bytes.reset();
         d->after.links[0].sent = 1ULL << 60U;
       }},
      {"own traffic odd", [](NodeDoubts* d) { d->own_bytes = kNan; }},
      {"no traffic of its own, and little of others",
       [](NodeDoubts* d) {
         d->own_bytes = 0;
         d->after.links[0] = {.link = "mlx5_7:1", .sent = 60 * kM, .received = 0};
         d->before.links[0].received = 0;
       }},
      {"processes numbered otherwise",
       [](NodeDoubts* d) {
         d->after.gpus[0].processes = {4711, 4712};
       }},
      {"no process of ours known", [](NodeDoubts* d) { d->own_processes.clear(); }},
      {"reasons that are usual", [](NodeDoubts* d) { d->after.gpus[0].throttle_reasons = 0x1 | 0x2 | 0x4 | 0x10; }},
      {"time that went back",
       [](NodeDoubts* d) {
         d->before.gpus[0].power_held = 1U << 30U;
         d->after.gpus[0].power_held = 1;
       }},
      {"no time at all",
       [](NodeDoubts* d) {
         d->seconds = 0;
         d->after.gpus[0].power_held = 1000000000000;
       }},
      {"a GPU that was not there before",
       [](NodeDoubts* d) {
         d->after.gpus[0].pci.bus = 0x19;
         d->after.gpus[0].power_held = 1000000000000;
       }},
  };
  for (const auto& row : rows) {
    NodeDoubts facts = Quiet();
    row.change(&facts);
    EXPECT_EQ(Joined(FindNodeDoubts(facts)), "") << row.why;
  }
}

TEST(FindNodeDoubtsTest, AnOddNodeNameStaysOneLine) {
  NodeDoubts facts = Quiet();
  facts.node = "a\nb";
  facts.after.throttles = 6;
  EXPECT_EQ(Joined(FindNodeDoubts(facts)),
            "a\\x0ab: cores were slowed down for heat 1 times during the run: look at the cooling and measure again");
}

Row Timed(std::uint64_t bytes, double microseconds) {
  Row out;
  out.bytes = bytes;
  out.type = "float";
  out.out_of_place.microseconds = microseconds;
  return out;
}

Row Adaptive(std::uint64_t bytes, double low, double high, double p99, bool settled) {
  Row out;
  out.bytes = bytes;
  out.in_place.spread = Spread{
      .samples = 100, .median = 1e-3, .p99 = p99 * 1e-3, .low = low * 1e-3, .high = high * 1e-3, .settled = settled};
  return out;
}

Row Scattered(std::uint64_t bytes, double mean, double deviation) {
  Row out;
  out.bytes = bytes;
  out.out_of_place.iterations = IterationTimes{.mean = mean, .deviation = deviation};
  return out;
}

TEST(OwnBytesTest, CountsAllCalls) {
  Collective sum{};
  sum.kind = CollectiveKind::kAllReduce;
  Record record;
  record.options.collective = &sum;
  record.options.iterations = 20;
  record.options.warmup = 1;
  record.options.checks = 1;
  record.rows = {Timed(1000, 1)};
  const Places two{.ranks = 2, .nodes = 2, .ranks_per_node = 1};
  EXPECT_EQ(OwnBytes(record, two), 1000.0 * (2 * 20 + 2 * 4));
  EXPECT_EQ(OwnBytes(record, {.ranks = 2, .nodes = 1, .ranks_per_node = 2}), 0);
  record.options.aggregated = 3;
  record.options.graph_launches = 2;
  EXPECT_EQ(OwnBytes(record, two), 1000.0 * (2 * 120 + 2 * 4));
  record.rows = {Adaptive(1000, 1, 1, 1, true)};
  record.options.aggregated = record.options.graph_launches = 0;
  EXPECT_EQ(OwnBytes(record, two), 1000.0 * (20 + 200 + 2 * 4));
  sum.kind = CollectiveKind::kAlltoallv;
  EXPECT_TRUE(OwnBytes(record, two));
  record.options.matrix_file = "m";
  EXPECT_FALSE(OwnBytes(record, two));
  EXPECT_FALSE(OwnBytes({}, two));
}

TEST(FindRowDoubtsTest, NoiseAndDrift) {
  const struct {
    std::vector<Row> rows;
    const char* text;
  } rows[] = {
      {{Adaptive(8 * kM, 0.98, 1.03, 1.1, false), Adaptive(kM, 0.98, 1.01, 1.1, false)},
       "at 8M (and less so in 1 more) the median is known to 5 % only when time was up: --adaptive-seconds gives it "
       "more, --exclusive quiet"},
      {{Adaptive(kM, 0.999, 1.001, 7.25, true)},
       "at 1M one call in a hundred takes 7.3 times the median or more: something interrupts the ranks or the network "
       "drops packets"},
      {{Scattered(kM, 1e-3, 5e-4)},
       "at 1M times scatter by 50 % (standard deviation of the mean): more iterations (-n) or --adaptive give a firmer "
       "number"},
      {{Timed(kM, 100), Timed(2 * kM, 200), Timed(kM, 130), Timed(2 * kM, 205)},
       "at 1M the last cycle is 30 % slower than the first: the machine heats up or others have come"},
      {{Timed(kM, 150), Timed(kM, 100)},
       "at 1M the last cycle is 50 % faster than the first: it had not warmed up, -w raises that"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Joined(FindRowDoubts(row.rows)), row.text);
  }
}

TEST(FindRowDoubtsTest, NoDoubt) {
  auto other_type = Timed(kM, 200);
  other_type.type = "half";
  const std::vector<Row> rows[] = {
      {},
      {Timed(kM, 100)},
      {Timed(kM, 100), Timed(kM, 109)},
      {Timed(kM, 100), Timed(2 * kM, 200)},
      {Timed(kM, 100), other_type},
      {Timed(kM, 0), Timed(kM, 100)},
      {Timed(kM, 100), Timed(kM, kNan)},
      {Timed(kM, -1), Timed(kM, 100)},
      {Adaptive(kM, 0.999, 1.001, 1.5, true)},
      {Adaptive(kM, kNan, 1.001, kNan, false)},
      {Scattered(kM, 0, 1)},
      {Scattered(kM, 1e-3, 1e-4)},
      {Scattered(kM, kNan, kNan)},
  };
  for (const auto& list : rows) EXPECT_EQ(Joined(FindRowDoubts(list)), "");
}

}  // namespace
}  // namespace nccl_tune::bench
