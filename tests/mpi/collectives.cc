// SPDX-License-Identifier: Apache-2.0
//
// Every collective of the mpi backend, in and out of place, checked element by element. Runs under mpirun: all ranks do
// the same, so none may leave a test early.
//   collectives [--most=ELEMENTS] [--unaligned=ELEMENTS] [--hang=SECONDS]
// ELEMENTS of one call of MPI, fewer than MPI's own limit; of -u. --hang: the last rank stays away from a collective.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/parse_number.h"
#include "bench/collective.h"
#include "bench/mpi_backend.h"

namespace nccl_tune::bench {
namespace {

constexpr std::uint64_t kBytes = 1U << 18U;

std::unique_ptr<MpiBackend> backend;
Place place;

// An asked-for size that divides well and one that does not.
std::vector<std::uint64_t> Sizes() { return {0, 1, place.ranks * 160, place.ranks * 160 + 35}; }

Call CallOf(const Collective& collective, DataType type, std::uint64_t elements, const Traffic& traffic) {
  const Question question{.elements = elements, .type_bytes = BytesOf(type), .ranks = place.ranks, .traffic = &traffic};
  return {.collective = &collective, .type = type, .shape = collective.shape(question), .traffic = &traffic};
}

std::string TextOf(const Call& call) {
  return std::string(call.collective->name) + " " + std::string(NameOf(call.type)) + " " +
         std::string(NameOf(call.op)) + " root " + std::to_string(call.root) + " count " +
         std::to_string(call.shape.count) + (call.in_place ? " in place" : " out of place") + " of " +
         std::to_string(place.ranks);
}

void ExpectOk(const base::Status& status, const std::string& what) {
  EXPECT_TRUE(status.ok()) << what << ": " << (status.ok() ? "" : status.error().ToString());
}

// The wrong elements of this rank.
std::uint64_t Wrong(const Call& call, std::uint64_t seed) {
  const auto found = backend->worker(0).Check(call, seed);
  if (!found.ok()) ADD_FAILURE() << TextOf(call) << ": " << found.error().ToString();
  return found.ok() ? found->count : 0;
}

// In place nothing may come from the send buffer, where the data of before still are.
std::uint64_t SeedOf(const Call& call) { return call.in_place ? 6 : 5; }

void RunOne(const Call& call) {
  const std::string what = TextOf(call);
  Worker& worker = backend->worker(0);
  ExpectOk(worker.Fill(call, SeedOf(call)), what);
  // The second lies elsewhere.
  for (const std::uint64_t iteration : {0U, 1U}) ExpectOk(worker.Start(call, iteration), what);
  ExpectOk(worker.Finish(), what);
  if (call.in_place && !call.collective->checks_in_place) return;
  const auto found = worker.Check(call, SeedOf(call));
  EXPECT_TRUE(found.ok() && found->count == 0)
      << what << ": " << (found.ok() ? found->first[0] : found.error().ToString());
}

void RunBoth(Call call) {
  for (const bool in_place : {false, true}) {
    call.in_place = in_place;
    RunOne(call);
  }
}

bool CanRun(const Collective& collective) {
  const bool power_of_two = (place.ranks & (place.ranks - 1)) == 0;
  return place.ranks > 0 && (power_of_two || collective.kind != CollectiveKind::kHypercube);
}

std::vector<const Collective*> All() {
  std::vector<const Collective*> all;
  for (const char* name : {"all_reduce", "all_gather", "broadcast", "reduce_scatter", "reduce", "alltoall", "alltoallv",
                           "scatter", "gather", "sendrecv", "hypercube"}) {
    const Collective* const found = FindCollective(name);
    EXPECT_NE(found, nullptr) << name;
    if (found != nullptr && CanRun(*found)) all.push_back(found);
  }
  return all;
}

void RunAll() {
  const Traffic traffic;
  for (const Collective* collective : All()) {
    for (const std::uint64_t elements : Sizes()) RunBoth(CallOf(*collective, DataType::kInt32, elements, traffic));
  }
}

TEST(MpiCollectivesTest, EveryTypeInAndOutOfPlace) {
  const Traffic traffic;
  for (const Collective* collective : All()) {
    for (const TypeName& type : kTypes) {
      for (const std::uint64_t elements : Sizes()) RunBoth(CallOf(*collective, type.type, elements, traffic));
    }
  }
}

TEST(MpiCollectivesTest, EveryOperation) {
  const Traffic traffic;
  for (const Collective* collective : All()) {
    if (!collective->reduces) continue;
    for (const TypeName& type : kTypes) {
      for (const OpName& op : kOps) {
        Call call = CallOf(*collective, type.type, place.ranks * 160, traffic);
        call.op = op.op;
        RunBoth(call);
      }
    }
  }
}

TEST(MpiCollectivesTest, EveryRoot) {
  const Traffic traffic;
  for (const Collective* collective : All()) {
    for (std::uint64_t root = 0; collective->has_root && root < place.ranks; ++root) {
      Call call = CallOf(*collective, DataType::kBfloat16, place.ranks * 160, traffic);
      call.root = root;
      for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kMulsum}) {
        call.op = collective->reduces ? op : ReduceOp::kSum;
        RunBoth(call);
      }
    }
  }
}

TEST(MpiCollectivesTest, UnequalParts) {
  const auto matrix = Traffic::FromMatrix("0 16 3200 48\n1600 16 0 80\n160 0 640 16\n0 0 16 4800\n", "matrix", 1.0);
  ASSERT_TRUE(matrix.ok());
  const Collective* const alltoallv = FindCollective("alltoallv");
  ASSERT_NE(alltoallv, nullptr);
  for (const Traffic& traffic : {Traffic(0.0), Traffic(0.5), Traffic(1.0), *matrix}) {
    for (const DataType type : {DataType::kInt8, DataType::kHalf, DataType::kDouble}) {
      RunBoth(CallOf(*alltoallv, type, place.ranks * 160, traffic));
    }
  }
}

TEST(MpiCollectivesTest, ASpoiltElementIsFoundWhereItIs) {
  const Traffic traffic;
  for (const Collective* collective : All()) {
    if (collective->has_root || collective->kind == CollectiveKind::kAlltoallv) continue;
    for (const bool in_place : {false, true}) {
      Call call = CallOf(*collective, DataType::kF8e4m3, place.ranks * 160, traffic);
      call.in_place = in_place;
      if (in_place && !collective->checks_in_place) continue;
      RunOne(call);
      const std::uint64_t last = place.ranks - 1;
      ExpectOk(backend->worker(0).Corrupt(call, last, 3), TextOf(call));
      EXPECT_EQ(Wrong(call, SeedOf(call)), place.group_process == last ? 1 : 0) << TextOf(call);
      EXPECT_GT(Wrong(call, SeedOf(call) + 2), 10) << TextOf(call);
    }
  }
}

TEST(MpiCollectivesTest, Groups) {
  const Place world = place;
  struct Case {
    std::uint64_t every;   // processes of one group
    std::uint64_t number;  // of the first group
  };
  for (const Case& one : {Case{2, 0}, Case{1, 1ULL << 40U}, Case{3, UINT64_MAX - 2}}) {
    const auto changed = backend->Regroup(world.process / one.every + one.number);
    EXPECT_TRUE(changed.ok());
    place = changed.value_or(world);
    EXPECT_EQ(place.group_process, world.process % one.every);
    EXPECT_EQ(place.processes, world.processes);
    EXPECT_LE(place.ranks, one.every);
    RunAll();
  }
  const bool member = world.process != 0;
  const auto changed = backend->Regroup(member ? std::optional<std::uint64_t>(7) : std::nullopt);
  place = changed.value_or(world);
  EXPECT_EQ(place.ranks, member ? world.ranks - 1 : 0);
  RunAll();
  const Traffic traffic;
  if (!member) {
    EXPECT_FALSE(backend->worker(0).Start(CallOf(*FindCollective("all_reduce"), DataType::kInt8, 4, traffic), 0).ok());
  }
  ExpectOk(backend->worker(0).Barrier(), "Barrier");
  place = backend->Regroup(0).value_or(world);
  EXPECT_EQ(place.ranks, world.ranks);
  RunAll();
}

TEST(MpiCollectivesTest, NumbersOfAllProcesses) {
  Worker& worker = backend->worker(0);
  const auto own = static_cast<double>(place.process) + 1;
  const auto all = static_cast<double>(place.processes);
  EXPECT_EQ(worker.Reduce(own, Combine::kSum).value_or(-1), all * (all + 1) / 2);
  EXPECT_EQ(worker.Reduce(own, Combine::kMin).value_or(-1), 1);
  EXPECT_EQ(worker.Reduce(own, Combine::kMax).value_or(-1), all);
  const auto lists = worker.GatherGreatest({own, 2 * own});
  ASSERT_TRUE(lists.ok());
  EXPECT_EQ(lists->size(), place.process == 0 ? place.processes : 0);
  for (std::size_t i = 0; i < lists->size(); ++i) {
    const auto number = static_cast<double>(i) + 1;
    EXPECT_EQ((*lists)[i], (std::vector<double>{number, 2 * number}));
  }
  const auto texts = backend->Gather(std::string(place.process, 'x'));
  ASSERT_TRUE(texts.ok());
  EXPECT_EQ(texts->size(), place.process == 0 ? place.processes : 0);
  for (std::size_t i = 0; i < texts->size(); ++i) EXPECT_EQ((*texts)[i], std::string(i, 'x'));
  EXPECT_EQ(backend->Memory().value_or(0), (1ULL << 30U) / place.processes);
  const auto use = backend->memory_use();
  EXPECT_GE(use.ok() ? use->user_allocated : 0, static_cast<std::int64_t>(3 * kBytes));
}

TEST(MpiCollectivesTest, Marks) {
  Worker& worker = backend->worker(0);
  ExpectOk(worker.ReserveMarks(3), "ReserveMarks");
  for (std::size_t i = 0; i < 3; ++i) ExpectOk(worker.Mark(i), "Mark");
  const auto seconds = worker.Between({{0, 1}, {0, 2}});
  ASSERT_TRUE(seconds.ok());
  ASSERT_EQ(seconds->size(), 2);
  EXPECT_GE((*seconds)[0], 0);
  EXPECT_GE((*seconds)[1], (*seconds)[0]);
}

TEST(MpiCollectivesTest, WhatCannotBe) {
  const Traffic traffic;
  Worker& worker = backend->worker(0);
  const Collective* const all_reduce = FindCollective("all_reduce");
  const auto large = worker.Fill(CallOf(*all_reduce, DataType::kInt8, kBytes + 1, traffic), 0);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().ToString(), "all_reduce: the buffers have 262144 bytes, a call needs 262145");
  for (const base::Status& status :
       {worker.BeginCapture(), worker.EndCapture(), worker.Replay(), worker.DropCapture()}) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().ToString(), "-G: host memory has no graphs");
    EXPECT_EQ(status.error().code, base::Code::kUnsupported);
  }
  for (const char flag : {'t', 'g'}) {
    BackendSetup setup;
    (flag == 't' ? setup.options.threads : setup.options.gpus) = 2;
    MpiBackend other(setup);
    const auto connected = other.Connect();
    ASSERT_FALSE(connected.ok());
    EXPECT_EQ(connected.error().ToString(),
              std::string("-") + flag + ": the mpi backend has one rank per process: got \"2\", expected 1");
    EXPECT_EQ(other.FailureCode(), 6);
  }
}

// Does not return on the ranks that wait.
void Hang() {
  const Traffic traffic;
  const Call call = CallOf(*FindCollective("all_reduce"), DataType::kInt32, 1024, traffic);
  if (place.process + 1 == place.processes) std::this_thread::sleep_for(std::chrono::seconds(60));
  static_cast<void>(backend->worker(0).Start(call, 0));
}

// Short calls for three times as long as -T allows: without a wait between them they are one test. As many on each
// rank.
void CallForLong(int seconds, bool waits) {
  const Traffic traffic;
  const Call call = CallOf(*FindCollective("all_reduce"), DataType::kInt32, 1024, traffic);
  Worker& worker = backend->worker(0);
  for (int i = 0; i < 3 * seconds * 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (!worker.Start(call, static_cast<std::uint64_t>(i)).ok()) std::_Exit(1);
    if (waits && !worker.Finish().ok()) std::_Exit(1);
  }
}

std::uint64_t Number(const std::string& argument, const std::string& name, std::uint64_t otherwise) {
  if (!argument.starts_with(name)) return otherwise;
  return base::ParseInteger<std::uint64_t>(argument.substr(name.size())).value_or(otherwise);
}

int Main(int argc, char** argv) {
  // One report, of rank 0: they all would write the same file.
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank != nullptr && std::string_view(rank) != "0") GTEST_FLAG_SET(output, "");
  ::testing::InitGoogleTest(&argc, argv);
  BackendSetup setup{.host_memory = 1ULL << 30U};
  std::uint64_t most = kMostElements;
  const std::string_view mode(argc > 1 ? argv[1] : "");
  for (int i = 1; i < argc; ++i) {
    most = Number(argv[i], "--most=", most);
    setup.options.unaligned = Number(argv[i], "--unaligned=", setup.options.unaligned);
    for (const char* name : {"--hang=", "--busy=", "--waits="}) {
      setup.options.timeout_seconds =
          static_cast<int>(Number(argv[i], name, static_cast<std::uint64_t>(setup.options.timeout_seconds)));
    }
  }
  setup.options.all_ops = true;
  const char* const processes = std::getenv("OMPI_COMM_WORLD_SIZE");
  setup.local_ranks = base::ParseInteger<std::uint64_t>(processes != nullptr ? processes : "1").value_or(1);
  backend = std::make_unique<MpiBackend>(setup, most);
  const auto connected = backend->Connect();
  if (!connected.ok() || !backend->Join(kBytes).ok()) {
    std::fprintf(stderr, "no backend: %s\n", connected.ok() ? "" : connected.error().ToString().c_str());
    return 1;
  }
  place = *connected;
  if (mode.starts_with("--hang=")) Hang();
  if (mode.starts_with("--busy=")) CallForLong(setup.options.timeout_seconds, false);
  if (mode.starts_with("--waits=")) CallForLong(setup.options.timeout_seconds, true);
  const int status = RUN_ALL_TESTS();
  const bool closed = backend->Close().ok();
  backend.reset();
  return closed ? status : 1;
}

}  // namespace
}  // namespace nccl_tune::bench

int main(int argc, char** argv) { return nccl_tune::bench::Main(argc, argv); }
