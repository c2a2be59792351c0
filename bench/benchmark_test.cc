// SPDX-License-Identifier: Apache-2.0
//
// The frame over a backend of one rank in memory: what is called in which order, and what is printed.
#include "bench/benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/host_data.h"

namespace nccl_tune::bench {
namespace {

using base::Error;
using base::Result;
using base::Status;
using ::testing::HasSubstr;
using ::testing::Not;

class OneRank : public Backend {
 public:
  Result<Place> Connect() override { return Place{}; }
  Identity identity() const override {
    return {.label = "test", .primes = primes, .headers_code = 1, .library_code = 2};
  }
  std::vector<Device> LocalDevices() const override { return {{.host = "here", .name = "memory"}}; }
  Result<std::vector<std::string>> Gather(const std::string& text) override { return std::vector<std::string>{text}; }
  Result<std::uint64_t> Memory() override { return memory; }
  Status Allocate(std::uint64_t send, std::uint64_t receive) override {
    send_.resize(send);
    receive_.resize(receive);
    return base::Ok();
  }
  Status Fill(const Call& call, std::uint64_t seed) override {
    FillData(Element(call, seed), call.count, call.in_place ? receive_.data() : send_.data());
    return base::Ok();
  }
  Status Run(const Call& call) override {
    ++runs;
    if (runs == fail_at) return Error{.what = "broke"};
    if (!call.in_place) receive_ = send_;
    return base::Ok();
  }
  Status Finish() override { return base::Ok(); }
  Result<Mismatches> Check(const Call& call, std::uint64_t seed) override {
    return CheckData(Element(call, seed), call.count, receive_.data());
  }
  Status Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) override {
    if (rank == 0) CorruptData(call.type, offset, receive_.data());
    return base::Ok();
  }
  Status Barrier() override { return base::Ok(); }
  Result<double> Sum(double value) override { return value; }
  Status Close() override { return base::Ok(); }
  void Abort(int) override {}
  int FailureCode() const override { return 1; }

  std::uint64_t memory = 64ULL << 30U;
  int runs = 0;
  bool primes = false;
  int fail_at = -1;

 private:
  static DataKey Element(const Call& call, std::uint64_t seed) {
    return {.type = call.type, .op = call.op, .seed = seed, .ranks = 1, .rank = 0};
  }
  std::vector<std::byte> send_;
  std::vector<std::byte> receive_;
};

struct Ran {
  bool ok = false;
  std::string error{};
  std::string out{};
  std::string notes{};
};

Ran RunWith(OneRank& backend, const std::vector<std::string>& arguments, const base::Environment& environment = {}) {
  const auto options = ParseOptions("all_reduce_perf", arguments, environment);
  if (!options.ok()) return {.error = options.error().ToString()};
  std::ostringstream out;
  std::ostringstream notes;
  const auto result = RunBenchmark(backend, *options, out, notes);
  return {.ok = result.value_or(false),
          .error = result.ok() ? "" : result.error().ToString(),
          .out = out.str(),
          .notes = notes.str()};
}

TEST(BenchmarkTest, PrintsATable) {
  OneRank backend;
  const Ran ran = RunWith(backend, {"-b", "8", "-e", "32", "-f", "2", "-n", "3", "-w", "2"});
  EXPECT_TRUE(ran.ok) << ran.error;
  EXPECT_EQ(ran.notes, "");
  EXPECT_THAT(ran.out, HasSubstr("# nccl-tests version 2.19.6 nccl-headers=1 nccl-library=2\n# nccl-bench "));
  EXPECT_THAT(ran.out, HasSubstr("\n#  Rank  0 Group  0 Pid      0 on       here device  0 [0000:00:00] memory\n#\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n           8             2     float     sum      -1  "));
  EXPECT_THAT(ran.out, HasSubstr("\n          32             8     float     sum      -1  "));
  EXPECT_THAT(ran.out, HasSubstr("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0 \n"));
  // 3 sizes: 2 to warm up; out of place and in place 3 timed + 1 checked.
  EXPECT_EQ(backend.runs, 3 * (2 + 2 * 4));
  OneRank priming;
  priming.primes = true;
  EXPECT_TRUE(RunWith(priming, {"-b", "8", "-e", "32", "-f", "2", "-n", "3", "-w", "2"}).ok);
  EXPECT_EQ(priming.runs, 3 * (2 + 2 * 5));
}

TEST(BenchmarkTest, EveryTypeAndOperationIsRight) {
  OneRank backend;
  const Ran ran = RunWith(backend, {"-b", "1K", "-e", "1K", "-d", "all", "-o", "all", "-n", "1", "-c", "2"});
  EXPECT_TRUE(ran.ok) << ran.error << ran.notes;
  EXPECT_THAT(ran.out, HasSubstr("bfloat16     avg"));
}

TEST(BenchmarkTest, WithoutACheckThereIsNoNumberOfWrongs) {
  OneRank backend;
  const Ran ran = RunWith(backend, {"-b", "8", "-e", "8", "-c", "0"}, {{"NCCL_BENCH_TEST_CORRUPT", "0:0"}});
  EXPECT_TRUE(ran.ok);
  EXPECT_THAT(ran.out, HasSubstr("    N/A\n"));
}

TEST(BenchmarkTest, FindsASpoiltElement) {
  for (const char* type : {"int8", "uint64", "half", "float", "double", "bfloat16"}) {
    OneRank backend;
    const Ran ran = RunWith(backend, {"-b", "64", "-e", "64", "-d", type}, {{"NCCL_BENCH_TEST_CORRUPT", "0:5"}});
    EXPECT_FALSE(ran.ok);
    EXPECT_THAT(ran.out, HasSubstr("# Out of bounds values : 2 FAILED\n")) << type;
    EXPECT_THAT(ran.notes, HasSubstr("out of place: rank 0: 1 wrong, first at offset 5: got ")) << type;
    EXPECT_THAT(ran.notes, HasSubstr("in place: rank 0: 1 wrong, first at offset 5: got ")) << type;
  }
  OneRank backend;
  EXPECT_TRUE(RunWith(backend, {"-b", "64", "-e", "64"}, {{"NCCL_BENCH_TEST_CORRUPT", "1:5"}}).ok);
}

TEST(BenchmarkTest, CutsSizesToTheMemory) {
  OneRank backend;
  backend.memory = 6144;
  const Ran ran = RunWith(backend, {"-b", "512", "-e", "4K", "-f", "2"});
  EXPECT_TRUE(ran.ok) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr(" maxBytes 4096 "));
  EXPECT_THAT(ran.out, HasSubstr("#\n# Reducing maxBytes to 1024 due to memory limitation\n#\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\n        2048 ")));
  backend.memory = 600;
  EXPECT_THAT(RunWith(backend, {"-b", "512", "-e", "4K"}).error, HasSubstr("the memory allows at most 100 bytes"));
}

TEST(BenchmarkTest, TooLittleBandwidthFails) {
  OneRank backend;
  const Ran ran = RunWith(backend, {"-b", "8", "-e", "8"}, {{"NCCL_TESTS_MIN_BW", "1"}});
  EXPECT_FALSE(ran.ok);
  EXPECT_EQ(ran.error, "");
  EXPECT_THAT(ran.out, HasSubstr("# Avg bus bandwidth    : 0 FAILED\n"));
}

TEST(BenchmarkTest, ABrokenRunIsAnError) {
  for (const int at : {1, 2, 3, 6, 7}) {
    OneRank backend;
    backend.fail_at = at;
    EXPECT_EQ(RunWith(backend, {"-b", "8", "-e", "8", "-n", "2"}).error, "broke") << at;
  }
}

}  // namespace
}  // namespace nccl_tune::bench
