// SPDX-License-Identifier: Apache-2.0
//
// What a worker is told, in which order, under each flag; and what comes out of the clock.
#include "bench/timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "bench/measure.h"
#include "bench/traffic.h"

namespace nccl_tune::bench {
namespace {

using base::Result;
using base::Status;
using ::testing::ElementsAre;

// Writes down its calls: F fill, S0 start of iteration 0, W wait, B barrier, ( ) group, M0 mark 0, R2 room for 2 marks,
// [ ] recording, P replay, D drop it, T times, +n reduction, G gathering, C check.
class Recorder : public Worker {
 public:
  Status Fill(const Call&, std::uint64_t seed) override { return Say("F" + std::to_string(seed)); }
  Status Start(const Call& call, std::uint64_t iteration) override {
    bytes.push_back(call.shape.count);
    return Say("S" + std::to_string(iteration));
  }
  Status Finish() override {
    if (slow_finish.count() > 0) std::this_thread::sleep_for(slow_finish);
    return Say("W");
  }
  Result<Mismatches> Check(const Call&, std::uint64_t) override {
    static_cast<void>(Say("C"));
    return Mismatches{.count = wrong};
  }
  Status Corrupt(const Call&, std::uint64_t, std::uint64_t) override { return Say("X"); }
  Status BeginGroup() override { return Say("("); }
  Status EndGroup() override { return Say(")"); }
  Status ReserveMarks(std::size_t count) override { return Say("R" + std::to_string(count)); }
  Status Mark(std::size_t index) override { return Say("M" + std::to_string(index)); }
  Result<std::vector<double>> Between(const std::vector<std::pair<std::size_t, std::size_t>>& marks) override {
    static_cast<void>(Say("T"));
    std::vector<double> seconds;
    for (const auto& [first, second] : marks) seconds.push_back(static_cast<double>(second - first) * 2e-6);
    return seconds;
  }
  Status BeginCapture() override { return Say("["); }
  Status EndCapture() override { return Say("]"); }
  Status Replay() override { return Say("P"); }
  Status DropCapture() override { return Say("D"); }
  Status Barrier() override {
    if (slow_barrier.count() > 0) std::this_thread::sleep_for(slow_barrier);
    return Say("B");
  }
  Result<double> Reduce(double value, Combine how) override {
    static_cast<void>(Say(how == Combine::kSum ? "+" : (how == Combine::kMin ? "<" : ">")));
    return reduce ? reduce(value) : value;
  }
  Result<std::vector<std::vector<double>>> GatherGreatest(const std::vector<double>& values) override {
    static_cast<void>(Say("G"));
    return std::vector<std::vector<double>>{values, values};
  }

  std::string said{};
  std::string fails_at{};  // the call that fails
  std::uint64_t wrong = 0;
  std::vector<std::uint64_t> bytes{};
  std::chrono::milliseconds slow_finish{};
  std::chrono::milliseconds slow_barrier{};
  std::function<double(double)> reduce{};

 private:
  Status Say(const std::string& text) {
    said += (said.empty() ? "" : " ") + text;
    if (text == fails_at) return base::Error{.what = "broke"};
    return base::Ok();
  }
};

const Traffic kTraffic;
constexpr Question kQuestion{.elements = 1024, .type_bytes = 4, .ranks = 4, .traffic = &kTraffic};

// One lane with its options.
struct Bench {
  explicit Bench(const std::vector<std::string>& arguments) {
    const auto parsed = ParseOptions("all_reduce_perf", arguments, {});
    EXPECT_TRUE(parsed.ok());
    options = parsed.value_or(Options{});
    lane.worker = &worker;
    lane.options = &options;
    lane.leads = true;
    lane.ranks = 4;
    call = {.collective = options.collective, .traffic = &kTraffic};
    call.shape = call.collective->shape(kQuestion);
  }
  std::string Said() {
    const auto timing = options.adaptive ? TimeAdaptive(lane, call) : TimeFixed(lane, call);
    EXPECT_TRUE(timing.ok());
    return worker.said;
  }
  Recorder worker{};
  Options options{};
  Lane lane{};
  Call call{};
};

TEST(TimingTest, OrderOfCalls) {
  struct Case {
    std::vector<std::string> flags;
    const char* said;
  };
  for (const Case& one : {
           Case{{}, "S0 S1 W +"},
           Case{{"-m", "2"}, "( S0 S1 ) ( S2 S3 ) W +"},
           Case{{"-z", "1"}, "S0 W B S1 W B +"},
           Case{{"-z", "2"}, "S0 W S1 W +"},
           Case{{"-z", "3"}, "S0 W W B S1 W W B +"},
           Case{{"-z", "1", "-m", "2"}, "( S0 S1 ) W B ( S2 S3 ) W B W +"},
           Case{{"-z", "3", "-m", "2"}, "( S0 S1 ) W W B ( S2 S3 ) W W B W +"},
           Case{{"-G", "3"}, "[ S0 S1 ] B P P P W + D"},
           Case{{"-G", "1", "-m", "2"}, "[ ( S0 S1 ) ( S2 S3 ) ] B P W + D"},
           Case{{"-G", "1", "-z", "1"}, "[ S0 S1 ] B P W + D"},
           Case{{"-G", "1", "-z", "2", "-m", "2"}, "[ ( S0 S1 ) ( S2 S3 ) ] B P W + D"},
           Case{{"-I", "1"}, "R3 M0 S0 M1 S1 M2 W W T G +"},
           Case{{"-I", "1", "-m", "2"}, "R3 ( M0 S0 S1 ) ( M1 S2 S3 ) M2 W W T G +"},
           Case{{"-I", "1", "-z", "2"}, "R3 M0 S0 W M1 S1 W M2 W T G +"},
           Case{{"-I", "1", "-z", "3"}, "R4 M0 S0 W W M1 B M2 S1 W W M3 B W T G +"},
           Case{{"-a", "0"}, "S0 S1 W"},
           Case{{"-a", "2"}, "S0 S1 W <"},
           Case{{"-a", "3"}, "S0 S1 W >"},
       }) {
    std::vector<std::string> arguments = {"-n", "2"};
    arguments.insert(arguments.end(), one.flags.begin(), one.flags.end());
    EXPECT_EQ(Bench(arguments).Said(), one.said);
  }
}

TEST(TimingTest, EachFailureEndsTheCell) {
  for (const std::string at : {"R4", "M0", "S0", "W", "M1", "B", "S1"}) {
    Bench bench({"-n", "2", "-I", "1", "-z", "3"});
    bench.worker.fails_at = at;
    EXPECT_FALSE(TimeFixed(bench.lane, bench.call).ok()) << at;
    EXPECT_EQ(bench.worker.said.substr(bench.worker.said.rfind(' ') + 1), at);
  }
  for (const char* at : {"[", "]", "P", "D", "B"}) {
    Bench bench({"-n", "1", "-G", "1"});
    bench.worker.fails_at = at;
    EXPECT_FALSE(TimeFixed(bench.lane, bench.call).ok()) << at;
  }
}

TEST(TimingTest, TimeAndCpuTime) {
  Bench waits({"-n", "2"});
  waits.worker.slow_finish = std::chrono::milliseconds(40);
  const auto timing = TimeFixed(waits.lane, waits.call);
  ASSERT_TRUE(timing.ok());
  EXPECT_GE(timing->seconds, 0.020);  // of one of 2 calls
  EXPECT_LT(timing->cpu_seconds, timing->seconds);
  Bench outer({"-n", "2", "-z", "3"});
  outer.worker.slow_barrier = std::chrono::milliseconds(200);
  const auto net = TimeFixed(outer.lane, outer.call);
  ASSERT_TRUE(net.ok());
  EXPECT_LT(net->seconds, 0.200);  // without the barriers
  Bench inner({"-n", "2", "-z", "1"});
  inner.worker.slow_barrier = std::chrono::milliseconds(20);
  EXPECT_GE(TimeFixed(inner.lane, inner.call).value_or({}).seconds, 0.020);
  Bench graph({"-n", "2", "-G", "5"});
  graph.worker.slow_finish = std::chrono::milliseconds(40);
  const auto replayed = TimeFixed(graph.lane, graph.call);
  ASSERT_TRUE(replayed.ok());
  EXPECT_GE(replayed->seconds, 0.004);  // of one of 2 x 5 calls
  EXPECT_LT(replayed->seconds, 0.040);
}

TEST(TimingTest, AverageOverTheWorkers) {
  Bench mean({"-n", "1"});
  mean.lane.workers = 4;
  mean.worker.reduce = [](double) { return 8.0; };
  EXPECT_EQ(TimeFixed(mean.lane, mean.call).value_or({}).seconds, 2);
  for (const char* which : {"2", "3"}) {
    Bench bench({"-n", "1", "-a", which});
    bench.lane.workers = 4;
    bench.worker.reduce = [](double) { return 8.0; };
    EXPECT_EQ(TimeFixed(bench.lane, bench.call).value_or({}).seconds, 8);
  }
}

TEST(TimingTest, TimesOfIterations) {
  Bench bench({"-n", "3", "-m", "2", "-I", "1", "-K", "1"});
  const auto timing = TimeFixed(bench.lane, bench.call);
  ASSERT_TRUE(timing.ok());
  ASSERT_TRUE(timing->iterations);
  EXPECT_THAT(timing->iterations->times, ElementsAre(1e-6, 1e-6, 1e-6));  // 2 us for 2 calls
  EXPECT_EQ(timing->iterations->per_process.size(), 2);
  EXPECT_EQ(timing->iterations->skipped, 1);
  bench.lane.leads = false;
  EXPECT_FALSE(TimeFixed(bench.lane, bench.call).value_or({}).iterations);
}

TEST(TimingTest, AdaptiveAsksTheLeaderAndStopsWhenSettled) {
  Bench bench({"--adaptive"});
  const auto timing = TimeAdaptive(bench.lane, bench.call);
  ASSERT_TRUE(timing.ok());
  ASSERT_TRUE(timing->spread);
  EXPECT_TRUE(timing->spread->settled);
  EXPECT_EQ(timing->seconds, 2e-6);
  EXPECT_EQ(timing->cpu_seconds, 2e-6);
  EXPECT_GE(timing->spread->samples, 30);
  const std::string& said = bench.worker.said;
  EXPECT_EQ(said.substr(0, 2), "> ");
  EXPECT_EQ(said.substr(said.size() - 9), "W T G > >");
  Bench other({"--adaptive"});
  other.lane.leads = false;
  other.worker.reduce = [&, asked = 0](double value) mutable {
    EXPECT_EQ(value, 0);
    return ++asked == 1 ? 2.0 : 0.0;
  };
  EXPECT_EQ(other.Said(), "> R3 B M0 S0 M1 S1 M2 W T G > >");
}

TEST(MeasureTest, ACellFromFillToCheck) {
  struct Case {
    std::vector<std::string> flags;
    bool primes;
    const char* said;
  };
  for (const Case& one : {
           Case{{}, false, "F0 B S0 W + B F1 S0 W C +"},
           Case{{}, true, "F0 S0 W B S0 W + B F1 S0 W C +"},
           Case{{"-z", "1"}, true, "F0 S0 W B W B S0 W B + B F1 S0 W C +"},
           Case{{"-c", "0"}, false, "B S0 W + B"},
           Case{{"-c", "3"}, false, "F0 B S0 W + B F1 S0 W C + F2 S0 W C + F3 S0 W C +"},
           Case{{"-G", "1"}, false, "F0 B [ S0 ] B P W + D B F1 [ S0 ] P W D C +"},
       }) {
    std::vector<std::string> arguments = {"-n", "1"};
    arguments.insert(arguments.end(), one.flags.begin(), one.flags.end());
    Bench bench(arguments);
    bench.lane.primes = one.primes;
    ASSERT_TRUE(MeasureBlock(bench.lane, kQuestion, bench.call).ok());
    EXPECT_EQ(bench.worker.said, one.said);
  }
}

TEST(MeasureTest, TheFirstCheckThatFindsAnythingIsTheLast) {
  Bench bench({"-n", "1", "-c", "3"});
  bench.worker.wrong = 7;
  const auto measured = MeasureBlock(bench.lane, kQuestion, bench.call);
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->block.wrong, 7);
  EXPECT_EQ(bench.worker.said, "F0 B S0 W + B F1 S0 W C +");
}

TEST(MeasureTest, Bandwidths) {
  Bench bench({"-n", "1", "-c", "0"});
  bench.worker.reduce = [](double) { return 1e-3; };
  const auto measured = MeasureBlock(bench.lane, kQuestion, bench.call);
  ASSERT_TRUE(measured.ok());
  EXPECT_DOUBLE_EQ(measured->block.microseconds, 1000);
  EXPECT_DOUBLE_EQ(measured->block.algorithm_bandwidth, 4096 / 1e-3 / 1e9);
  EXPECT_DOUBLE_EQ(measured->block.bus_bandwidth, 1.5 * 4096 / 1e-3 / 1e9);
  EXPECT_FALSE(measured->block.wrong);
}

TEST(MeasureTest, WarmUpDoublesTheSize) {
  const Sweep sweep{.min_bytes = 16, .max_bytes = 100, .step_bytes = 8};
  struct Case {
    std::vector<std::string> flags;
    const char* said;
  };
  for (const Case& one : {Case{{"-w", "2"}, "S0 S1 W S0 S1 W S0 S1 W"},
                          Case{{"-w", "1", "-z", "1"}, "S0 W B W S0 W B W S0 W B W"}, Case{{"-w", "0"}, "W W W"}}) {
    Bench bench(one.flags);
    ASSERT_TRUE(WarmUp(bench.lane, sweep, bench.call).ok());
    EXPECT_EQ(bench.worker.said, one.said);
  }
  Bench bench({"-w", "1"});
  ASSERT_TRUE(WarmUp(bench.lane, {.min_bytes = 0, .max_bytes = 16}, bench.call).ok());
  EXPECT_THAT(bench.worker.bytes, ElementsAre(1, 2, 4));
}

}  // namespace
}  // namespace nccl_tune::bench
