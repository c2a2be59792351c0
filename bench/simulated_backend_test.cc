// SPDX-License-Identifier: Apache-2.0
#include "bench/simulated_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "bench/collective.h"

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Traffic kTraffic;

Call CallOf(std::string_view name, DataType type, std::uint64_t ranks, std::uint64_t elements = 4096) {
  const Collective* const collective = FindCollective(name);
  const Question question{.elements = elements, .type_bytes = BytesOf(type), .ranks = ranks, .traffic = &kTraffic};
  return {.collective = collective, .type = type, .shape = collective->shape(question), .traffic = &kTraffic};
}

BackendSetup SetupOf(int threads, int gpus) {
  BackendSetup setup;
  setup.options.threads = threads;
  setup.options.gpus = gpus;
  return setup;
}

constexpr std::uint64_t kBytes = 1U << 21U;

// Connected and joined.
struct Ready {
  explicit Ready(Simulation simulation, const BackendSetup& setup = {}) : backend(setup, std::move(simulation)) {
    place = backend.Connect().value_or(Place{});
    EXPECT_TRUE(backend.Join(kBytes).ok());
  }
  Worker& worker() { return backend.worker(0); }
  // One call from Fill to Check.
  std::string Run(const Call& call) {
    if (const auto filled = worker().Fill(call, 1); !filled.ok()) return filled.error().ToString();
    if (const auto started = worker().Start(call, 0); !started.ok()) return started.error().ToString();
    if (const auto finished = worker().Finish(); !finished.ok()) return finished.error().ToString();
    const auto found = worker().Check(call, 1);
    if (!found.ok()) return found.error().ToString();
    return found->count == 0 ? "right" : found->first[0];
  }
  SimulatedBackend backend;
  Place place;
};

TEST(SimulatedBackendTest, EveryCollectiveIsRight) {
  Ready one({.processes = 16384});
  for (const char* name : {"all_reduce", "all_gather", "broadcast", "reduce_scatter", "reduce", "alltoall", "alltoallv",
                           "scatter", "gather", "sendrecv", "hypercube"}) {
    for (const TypeName& type : kTypes) {
      EXPECT_EQ(one.Run(CallOf(name, type.type, one.place.ranks, 16 * 16384)), "right") << name << " " << type.name;
    }
  }
  for (const OpName& op : kOps) {
    Call call = CallOf("all_reduce", DataType::kBfloat16, one.place.ranks);
    call.op = op.op;
    EXPECT_EQ(one.Run(call), "right") << op.name;
  }
}

TEST(SimulatedBackendTest, PlaceAndDevices) {
  BackendSetup setup = SetupOf(2, 3);
  setup.options.split = Split{.operation = Split::Operation::kModulo, .value = 4};
  Ready one({.process = 5, .processes = 10, .processes_per_node = 2}, setup);
  EXPECT_EQ(one.place.group, 1);
  EXPECT_EQ(one.place.group_process, 1);
  EXPECT_EQ(one.place.group_processes, 3);
  EXPECT_EQ(one.place.ranks, 18);
  const auto devices = one.backend.LocalDevices();
  ASSERT_THAT(devices, SizeIs(6));
  EXPECT_EQ(devices[5].rank, 35);
  EXPECT_EQ(devices[5].group, 1);
  EXPECT_EQ(devices[5].host, "node2");
  EXPECT_EQ(devices[5].index, 11);
  const auto regrouped = one.backend.Regroup(9);
  ASSERT_TRUE(regrouped.ok());
  EXPECT_EQ(regrouped->group, 9);
  EXPECT_EQ(regrouped->ranks, 60);
  ASSERT_TRUE(one.backend.Regroup(std::nullopt).ok());
  EXPECT_THAT(one.Run(CallOf("all_reduce", DataType::kFloat, 60)), HasSubstr("a collective in no group"));
}

TEST(SimulatedBackendTest, TextsOfAllProcesses) {
  Ready one(
      {.processes = 3, .describe = [](const std::vector<Device>& devices) { return std::to_string(devices[0].rank); }});
  EXPECT_THAT(one.backend.Gather("0").value_or({}), ElementsAre("0", "1", "2"));
  EXPECT_THAT(one.backend.Gather("own").value_or({}), ElementsAre("own", "own", "own"));
  Ready same({.processes = 2});
  EXPECT_THAT(same.backend.Gather("own").value_or({}), ElementsAre("own", "own"));
  Ready other({.process = 1, .processes = 2});
  EXPECT_THAT(other.backend.Gather("own").value_or({"no"}), IsEmpty());
}

TEST(SimulatedBackendTest, TheOtherProcessesHaveTheSameNumbers) {
  Ready one({.processes = 4});
  EXPECT_EQ(one.worker().Reduce(2.5, Combine::kSum).value_or(0), 10);
  EXPECT_EQ(one.worker().Reduce(2.5, Combine::kMin).value_or(0), 2.5);
  EXPECT_EQ(one.worker().Reduce(2.5, Combine::kMax).value_or(0), 2.5);
  EXPECT_EQ(one.worker().GatherGreatest({1, 2}).value_or({}).size(), 4);
}

TEST(SimulatedBackendTest, ThreadsCombine) {
  SimulatedBackend backend(SetupOf(3, 1), {.processes = 2});
  ASSERT_TRUE(backend.Connect().ok());
  std::vector<double> sums(3);
  std::vector<std::vector<std::vector<double>>> lists(3);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      const auto value = static_cast<double>(i);
      for (int round = 0; round < 100; ++round) EXPECT_TRUE(backend.worker(i).Barrier().ok());
      sums[i] = backend.worker(i).Reduce(value, Combine::kSum).value_or(-1);
      lists[i] = backend.worker(i).GatherGreatest({value, -value}).value_or({});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(sums, ElementsAre(6, 6, 6));
  EXPECT_THAT(lists[0], ElementsAre(ElementsAre(2, 0), ElementsAre(2, 0)));
  EXPECT_THAT(lists[1], IsEmpty());
}

TEST(SimulatedBackendTest, AbortFreesWhoWaits) {
  SimulatedBackend backend(SetupOf(2, 1), {});
  std::thread waits([&] {
    const auto status = backend.worker(0).Barrier();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().ToString(), "another thread has ended the run");
  });
  backend.Abort(3);
  waits.join();
  EXPECT_EQ(backend.aborted(), 3);
}

TEST(SimulatedBackendTest, FaultsAppearWhenAskedFor) {
  using Kind = SimulatedFault::Kind;
  struct Case {
    Kind kind;
    const char* text;
    int code;
  };
  for (const Case& one : {Case{Kind::kError, "call 2: broke", 1}, Case{Kind::kTimeout, "Test timeout", 4},
                          Case{Kind::kWrong, "rank 0: 1 wrong, first at offset 7: got ", 1},
                          Case{Kind::kNan, "rank 0: 1 wrong, first at offset 7: got nan, expected ", 1}}) {
    Ready ready({.rank = {.fault = SimulatedFault{.kind = one.kind, .at = 2, .offset = 7}}});
    const Call call = CallOf("all_reduce", DataType::kFloat, 1);
    EXPECT_EQ(ready.Run(call), "right");
    EXPECT_THAT(ready.Run(call), HasSubstr(one.text));
    EXPECT_EQ(ready.backend.FailureCode(), one.code) << one.text;
  }
}

TEST(SimulatedBackendTest, TimeIsWhatTheMarksTell) {
  Ready one({.rank = {.seconds = [](const Call&, std::uint64_t number) { return static_cast<double>(number); }}});
  const Call call = CallOf("all_reduce", DataType::kFloat, 1);
  ASSERT_TRUE(one.worker().ReserveMarks(3).ok());
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(one.worker().Mark(i).ok());
    ASSERT_TRUE(one.worker().Start(call, i).ok());
  }
  ASSERT_TRUE(one.worker().Finish().ok());
  EXPECT_THAT(one.worker().Between({{0, 1}, {1, 2}, {0, 2}}).value_or({}), ElementsAre(1, 2, 3));
}

TEST(SimulatedBackendTest, ARecordingRunsWhenReplayed) {
  Ready one({.rank = {.keeps_calls = true}});
  const Call call = CallOf("all_reduce", DataType::kFloat, 1);
  Worker& worker = one.worker();
  ASSERT_TRUE(worker.Fill(call, 1).ok());
  ASSERT_TRUE(worker.BeginCapture().ok());
  for (const std::uint64_t iteration : {0U, 1U}) ASSERT_TRUE(worker.Start(call, iteration).ok());
  ASSERT_TRUE(worker.EndCapture().ok());
  EXPECT_EQ(one.backend.counts().starts, 0);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(worker.Replay().ok());
  ASSERT_TRUE(worker.Finish().ok());
  EXPECT_EQ(one.backend.counts().starts, 6);
  ASSERT_THAT(one.backend.counts().calls, SizeIs(6));
  EXPECT_EQ(one.backend.counts().calls[3].iteration, 1);
  ASSERT_TRUE(worker.DropCapture().ok());
  EXPECT_EQ(worker.Check(call, 1).value_or(Mismatches{.count = 9}).count, 0);
}

TEST(SimulatedBackendTest, FindsWhatTheFrameDoesWrong) {
  const Call call = CallOf("all_reduce", DataType::kFloat, 1);
  const Call large = CallOf("all_reduce", DataType::kFloat, 1, kBytes);
  struct Case {
    base::Status (*misuse)(Worker&, const Call&, const Call&);
    const char* text;
  };
  using W = Worker;
  using C = const Call;
  const Case cases[] = {
      {[](W& w, C&, C& big) { return w.Fill(big, 1); }, "a call of 8388608 bytes in buffers of 2097152"},
      {[](W& w, C&, C& big) { return w.Start(big, 1); }, "a call of 8388608 bytes in buffers of 2097152"},
      {[](W& w, C& c, C&) { return w.Corrupt(c, 0, 0); }, "Check or Corrupt of another call"},
      {[](W& w, C& c, C&) {
         static_cast<void>(w.Fill(c, 1));
         static_cast<void>(w.Start(c, 0));
         return w.Corrupt(c, 0, 0);
       },
       "Check or Corrupt before Finish"},
      {[](W& w, C&, C&) { return w.EndGroup(); }, "EndGroup without BeginGroup"},
      {[](W& w, C&, C&) {
         static_cast<void>(w.BeginGroup());
         return w.BeginGroup();
       },
       "a group in a group"},
      {[](W& w, C&, C&) {
         static_cast<void>(w.BeginGroup());
         return w.Finish();
       },
       "Finish in an open group"},
      {[](W& w, C&, C&) { return w.EndCapture(); }, "EndCapture without BeginCapture"},
      {[](W& w, C&, C&) { return w.Replay(); }, "Replay without a recording"},
      {[](W& w, C&, C&) {
         static_cast<void>(w.BeginCapture());
         return w.BeginCapture();
       },
       "a recording beside a recording"},
      {[](W& w, C& c, C&) {
         static_cast<void>(w.BeginCapture());
         return w.Fill(c, 1);
       },
       "Fill in a recording"},
      {[](W& w, C&, C&) {
         static_cast<void>(w.BeginCapture());
         return w.Finish();
       },
       "Finish in a recording"},
      {[](W& w, C&, C&) {
         static_cast<void>(w.BeginCapture());
         return w.DropCapture();
       },
       "DropCapture in a recording"},
      {[](W& w, C&, C&) { return w.Mark(0); }, "mark 0 of 0"},
      {[](W& w, C&, C&) {
         static_cast<void>(w.ReserveMarks(2));
         static_cast<void>(w.Mark(0));
         const auto seconds = w.Between({{0, 1}});
         return seconds.ok() ? base::Ok() : base::Status(seconds.error());
       },
       "no mark 0 or 1"},
  };
  for (const Case& one : cases) {
    Ready ready({});
    const auto status = one.misuse(ready.worker(), call, large);
    ASSERT_FALSE(status.ok()) << one.text;
    EXPECT_EQ(status.error().ToString(), std::string("the frame: ") + one.text);
  }
  Ready ready({});
  EXPECT_TRUE(ready.backend.Close().ok());
  EXPECT_FALSE(ready.backend.Close().ok());
}

TEST(SimulatedBackendTest, WhatWasNotComputedIsWrong) {
  Ready one({});
  const Call call = CallOf("all_reduce", DataType::kInt32, 1);
  Worker& worker = one.worker();
  ASSERT_TRUE(worker.Fill(call, 1).ok());
  EXPECT_GT(worker.Check(call, 1).value_or({}).count, 4000);
  ASSERT_TRUE(worker.Fill(call, 1).ok());
  ASSERT_TRUE(worker.Start(call, 1).ok());  // another part of the buffer
  ASSERT_TRUE(worker.Finish().ok());
  EXPECT_GT(worker.Check(call, 1).value_or({}).count, 4000);
  ASSERT_TRUE(worker.Start(call, 0).ok());
  ASSERT_TRUE(worker.Finish().ok());
  EXPECT_GT(worker.Check(call, 1).value_or({}).count, 4000);
  EXPECT_EQ(one.Run(call), "right");
  ASSERT_TRUE(worker.Corrupt(call, 0, 9).ok());
  ASSERT_TRUE(worker.Corrupt(call, 1, 8).ok());
  EXPECT_EQ(worker.Check(call, 1).value_or({}).count, 1);
  EXPECT_GT(worker.Check(call, 2).value_or({}).count, 4000);
  EXPECT_EQ(one.backend.counts().corruptions, 1);
}

}  // namespace
}  // namespace nccl_tune::bench
