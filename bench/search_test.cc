// SPDX-License-Identifier: Apache-2.0
//
// Whole searches of several processes, each with its own backend; what crosses between them is carried by Crossing.
#include "bench/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "base/parse_number.h"
#include "bench/collective.h"
#include "bench/search_exchange.h"
#include "bench/simulated_backend.h"

namespace nccl_tune::bench {
namespace {

using base::Error;
using base::Result;
using base::Status;
using ::testing::HasSubstr;
using ::testing::Not;

// Carries one text of each process to all, in rounds.
class Crossing {
 public:
  explicit Crossing(std::size_t processes) : texts_(processes) {}

  std::vector<std::string> Exchange(std::size_t process, const std::string& text) {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = round_;
    texts_[process] = text;
    if (++arrived_ == texts_.size()) {
      last_ = texts_;
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round; });
    return last_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
  std::vector<std::string> last_{};
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
};

// Busbw in GB/s of a group of these nodes.
using Speed = std::function<double(const std::vector<std::uint64_t>& nodes)>;

// A worker that does nothing and meets those of other processes.
class CrossingWorker : public Worker {
 public:
  CrossingWorker(Crossing& crossing, std::size_t process) : crossing_(crossing), process_(process) {}

  Status Fill(const Call&, std::uint64_t) override { return base::Ok(); }
  Status Start(const Call&, std::uint64_t) override {
    if (!in_group) return Error{.what = "a collective in no group"};
    return base::Ok();
  }
  Status Finish() override { return base::Ok(); }
  Result<Mismatches> Check(const Call&, std::uint64_t) override {
    if (!wrong) return Mismatches{};
    return Mismatches{.count = 1, .first = {"rank 0: 1 wrong, first at offset 5: got 7, expected 6"}};
  }
  Status Corrupt(const Call&, std::uint64_t, std::uint64_t) override { return base::Ok(); }
  Status BeginGroup() override { return base::Ok(); }
  Status EndGroup() override { return base::Ok(); }
  Status ReserveMarks(std::size_t) override { return base::Ok(); }
  Status Mark(std::size_t) override { return base::Ok(); }
  Result<std::vector<double>> Between(const std::vector<std::pair<std::size_t, std::size_t>>& marks) override {
    return std::vector<double>(marks.size());
  }
  Status BeginCapture() override { return base::Ok(); }
  Status EndCapture() override { return base::Ok(); }
  Status Replay() override { return base::Ok(); }
  Status DropCapture() override { return base::Ok(); }
  Status Barrier() override {
    const auto texts = crossing_.Exchange(process_, "barrier");
    return base::Ok();
  }
  Result<double> Reduce(double value, Combine) override {
    double sum = 0;
    for (const std::string& text : crossing_.Exchange(process_, std::to_string(value))) {
      sum += base::ParseDecimal(text).value_or(0);
    }
    return sum;
  }
  Result<std::vector<std::vector<double>>> GatherGreatest(const std::vector<double>&) override {
    return Error{.what = "not in a search"};
  }

  bool in_group = false;
  bool wrong = false;

 private:
  Crossing& crossing_;
  std::size_t process_;
};

class CrossingBackend : public SimulatedBackend {
 public:
  CrossingBackend(Crossing& crossing, const Simulation& simulation, Speed speed)
      : SimulatedBackend({}, simulation),
        crossing_(crossing),
        process_(simulation.process),
        per_node_(simulation.processes_per_node),
        speed_(std::move(speed)),
        worker_(crossing, simulation.process) {}

  // What was measured is replaced by what the cluster is like: no clock decides.
  Result<std::vector<std::string>> Gather(const std::string& text) override {
    auto parsed = MeasurementFromText(text);
    std::optional<Measurement> measurement;
    if (parsed.ok()) measurement = *parsed;
    if (measurement) {
      double factor = 0;
      for (double& one : measurement->busbw) one = busbw * ++factor;
    }
    auto texts = crossing_.Exchange(process_, measurement ? MeasurementToText(*measurement) : text);
    if (process_ != 0) texts.clear();
    return texts;
  }
  Result<std::string> Broadcast(const std::string& text) override { return crossing_.Exchange(process_, text)[0]; }
  Worker& worker(std::size_t) override { return worker_; }
  Result<Place> Regroup(std::optional<std::uint64_t> group) override {
    const auto texts = crossing_.Exchange(process_, group ? std::to_string(*group) : "-");
    ++rounds;
    std::vector<std::uint64_t> nodes;
    Place place{.process = process_, .processes = texts.size(), .group_processes = 0, .ranks = 0};
    for (std::size_t i = 0; group && i < texts.size(); ++i) {
      if (texts[i] != std::to_string(*group)) continue;
      ++place.group_processes;
      ++place.ranks;
      if (nodes.empty() || nodes.back() != i / per_node_) nodes.push_back(i / per_node_);
    }
    worker_.in_group = group.has_value();
    if (group) busbw = speed_(nodes);
    worker_.wrong = group && speaks_wrong && nodes.front() == 1;
    return place;
  }

  double busbw = 0;
  bool speaks_wrong = false;
  int rounds = 0;

 private:
  Crossing& crossing_;
  std::size_t process_;
  std::uint64_t per_node_;
  Speed speed_;
  CrossingWorker worker_;
};

struct Ran {
  std::vector<SearchEnd> ends{};
  std::string out{};
  std::string notes{};
  SearchResult result{};
  std::string error{};
};

Ran RunOn(const std::vector<std::string>& arguments, std::uint64_t processes, std::uint64_t per_node,
          const Speed& speed, bool speaks_wrong = false, const std::vector<std::string>& of_last = {},
          std::optional<std::uint64_t> refuses = std::nullopt) {
  const auto common = ParseOptions("nccl-bench", arguments, {});
  const auto last = of_last.empty() ? common : ParseOptions("nccl-bench", of_last, {});
  EXPECT_TRUE(common.ok() && last.ok());
  Crossing crossing(processes);
  Ran ran;
  ran.ends.resize(processes);
  std::ostringstream out;
  std::vector<std::ostringstream> notes(processes);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < processes; ++i) {
    threads.emplace_back([&, i] {
      const auto& options = i + 1 == processes ? last : common;
      CrossingBackend backend(crossing, {.process = i, .processes = processes, .processes_per_node = per_node}, speed);
      backend.speaks_wrong = speaks_wrong;
      SearchReporter reporter({.out = &out, .notes = &notes[i]}, {.options = *options, .program = "nccl-bench pairs"});
      SearchParts parts{.backend = &backend, .reporter = &reporter, .notes = &notes[i]};
      if (refuses == i) parts.refusal = Error{.what = "cannot be made", .where = "/none/a"};
      const auto end = RunSearch(parts, *options);
      EXPECT_TRUE(end.ok()) << end.error().ToString();
      ran.ends[i] = *end;
      if (i == 0) ran.result = reporter.result();
    });
  }
  for (std::thread& thread : threads) thread.join();
  ran.out = out.str();
  for (const auto& one : notes) ran.notes += one.str();
  return ran;
}

constexpr double kFast = 12;
constexpr double kSlow = 3;

Speed SlowWith(std::uint64_t node) {
  return [node](const std::vector<std::uint64_t>& nodes) {
    return std::ranges::find(nodes, node) == nodes.end() ? kFast : kSlow;
  };
}

const std::vector<std::string> kShort = {"-n", "2", "-w", "1", "-b", "1M"};

std::vector<std::string> With(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), kShort.begin(), kShort.end());
  return arguments;
}

TEST(SearchTest, PairsNameTheSlowNode) {
  const Ran ran = RunOn(With({"pairs"}), 4, 1, SlowWith(2));
  EXPECT_THAT(ran.ends, ::testing::Each(SearchEnd::kSuspicious));
  ASSERT_EQ(ran.result.slow_nodes.size(), 1U);
  EXPECT_EQ(ran.result.slow_nodes[0].node, 2U);
  EXPECT_THAT(ran.out, HasSubstr("# slow node: node2: "));
  EXPECT_EQ(ran.result.collective, "sendrecv");
  EXPECT_EQ(ran.result.ranks, 4U);
  EXPECT_EQ(ran.result.measured.size(), 3 * 2 + 3U);
}

TEST(SearchTest, BisectNamesTheSlowNode) {
  const Ran ran = RunOn(With({"bisect"}), 5, 1, SlowWith(4));
  EXPECT_THAT(ran.ends, ::testing::Each(SearchEnd::kSuspicious));
  ASSERT_EQ(ran.result.slow_nodes.size(), 1U);
  EXPECT_EQ(ran.result.slow_nodes[0].node, 4U);
  EXPECT_EQ(ran.result.collective, "all_reduce");
}

TEST(SearchTest, EqualNodesAreNotNamed) {
  for (const char* mode : {"pairs", "bisect"}) {
    const Ran ran = RunOn(With({mode}), 5, 1, [](const auto&) { return kFast; });
    EXPECT_THAT(ran.ends, ::testing::Each(SearchEnd::kNothing));
    EXPECT_THAT(ran.out, HasSubstr("# nothing slow: a good pair has "));
    EXPECT_TRUE(ran.result.is_complete);
    EXPECT_EQ(ran.result.rounds, 5U);
  }
}

TEST(SearchTest, PairsNameALink) {
  const Ran ran = RunOn(With({"pairs"}), 5, 1, [](const auto& nodes) {
    return nodes == std::vector<std::uint64_t>{1, 3} ? kSlow : kFast;
  });
  EXPECT_TRUE(ran.result.slow_nodes.empty());
  ASSERT_EQ(ran.result.slow_links.size(), 1U);
  EXPECT_THAT(ran.out, HasSubstr("# slow link: node1 - node3: "));
}

TEST(SearchTest, SeveralProcessesOfANodeGoTogether) {
  const Ran ran = RunOn(With({"pairs"}), 6, 2, SlowWith(1));
  EXPECT_THAT(ran.ends, ::testing::Each(SearchEnd::kSuspicious));
  EXPECT_EQ(ran.result.nodes.size(), 3U);
  EXPECT_EQ(ran.result.ranks, 6U);
  EXPECT_EQ(ran.result.collective, "all_reduce") << "a sendrecv would use one rail";
  ASSERT_EQ(ran.result.slow_nodes.size(), 1U);
  EXPECT_EQ(ran.result.slow_nodes[0].node, 1U);
}

TEST(SearchTest, TheNamedCollectiveIsMeasured) {
  const Ran ran = RunOn(With({"pairs", "sendrecv"}), 4, 2, [](const auto&) { return kFast; });
  EXPECT_EQ(ran.result.collective, "sendrecv");
}

TEST(SearchTest, TheBestOfSeveralSizesCounts) {
  const Ran ran =
      RunOn({"pairs", "-n", "2", "-b", "1K", "-e", "1M", "-f", "32"}, 3, 1, [](const auto&) { return kFast; });
  EXPECT_THAT(ran.result.sizes, ::testing::ElementsAre(1024, 32768, 1048576));
  EXPECT_EQ(ran.result.reference, 3 * kFast);
}

TEST(SearchTest, UnevenNodesAreDoubted) {
  const Ran ran = RunOn(With({"pairs"}), 5, 2, [](const auto&) { return kFast; });
  EXPECT_THAT(ran.notes, HasSubstr("doubtful: the nodes have from 1 to 2 ranks"));
}

TEST(SearchTest, OneNodeHasNothingToCompareWith) {
  const Ran ran = RunOn(With({"bisect"}), 3, 8, [](const auto&) { return kFast; });
  EXPECT_THAT(ran.ends, ::testing::Each(SearchEnd::kNoPeers));
  EXPECT_THAT(ran.notes, HasSubstr("all ranks are on node0: two are needed, three to tell a slow one"));
  EXPECT_THAT(ran.out, Not(HasSubstr("concluded")));
}

TEST(SearchTest, WhereOneCannotGoOnNoneDoes) {
  const auto fast = [](const auto&) { return kFast; };
  for (const std::uint64_t process : {0U, 2U}) {
    const Ran ran = RunOn(With({"pairs"}), 3, 1, fast, false, {}, process);
    EXPECT_THAT(ran.ends, ::testing::Each(SearchEnd::kRefused));
    const std::string number = std::to_string(process);
    const std::string said = "process " + number + " (node" + number + "): /none/a: cannot be made";
    EXPECT_EQ(ran.notes, "nccl-bench: " + said + "\n") << "said once";
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(ran.result.measured.empty());
    EXPECT_EQ(ran.result.error, said) << "for a file that could be made";
  }
}

TEST(SearchTest, TwoNodesAreMeasuredAndNotJudged) {
  const Ran ran = RunOn(With({"pairs"}), 2, 1, SlowWith(0));
  EXPECT_THAT(ran.ends, ::testing::Each(SearchEnd::kNothing));
  EXPECT_THAT(ran.out, HasSubstr("two nodes: nothing to compare with"));
}

TEST(SearchTest, ProcessesWithOtherFlagsEndAll) {
  for (const std::vector<std::string>& other : {With({"bisect"}), With({"pairs", "all_gather"}),
                                                std::vector<std::string>{"pairs", "-n", "2", "-w", "1", "-b", "2M"}}) {
    const Ran ran = RunOn(
        With({"pairs"}), 3, 1, [](const auto&) { return kFast; }, false, other);
    EXPECT_THAT(ran.ends, ::testing::Each(SearchEnd::kRefused)) << other[0];
    EXPECT_EQ(ran.notes,
              "nccl-bench: process 2 (node2) was started with other flags, variables or another matrix than process 0. "
              "All tasks need the same.\n");
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.result.error, HasSubstr("process 2 (node2)"));
    EXPECT_FALSE(ran.result.is_complete);
  }
}

TEST(SearchTest, WrongDataIsToldWithTheNodes) {
  const Ran ran = RunOn(
      With({"pairs"}), 3, 1, [](const auto&) { return kFast; }, true);
  EXPECT_THAT(ran.ends, ::testing::Each(SearchEnd::kSuspicious));
  EXPECT_THAT(ran.out, HasSubstr("# wrong data: node1, node2\n"));
  EXPECT_THAT(ran.notes,
              HasSubstr("nccl-bench: wrong data: node2: sendrecv of 262144 float in group 0: rank 0: 1 wrong"));
}

}  // namespace
}  // namespace nccl_tune::bench
