// SPDX-License-Identifier: Apache-2.0
#include "bench/common_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/device_text.h"
#include "bench/simulated_backend.h"

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Options Of(const std::vector<std::string>& arguments) {
  const auto options = ParseOptions("nccl-bench", arguments, {});
  EXPECT_TRUE(options.ok());
  return options.value_or(Options{});
}

// Process 1 says of itself what it likes.
class TwoProcesses : public SimulatedBackend {
 public:
  TwoProcesses(const Options& options, std::uint64_t process, std::string other)
      : SimulatedBackend({.options = options}, {.process = process, .processes = 2}), other_(std::move(other)) {}

  base::Result<std::vector<std::string>> Gather(const std::string& text) override {
    if (process_is_first()) return std::vector<std::string>{text, other_};
    return std::vector<std::string>{};
  }

 private:
  bool process_is_first() { return LocalDevices()[0].rank == 0; }
  std::string other_;
};

StartDecision Decided(const Options& options, const StartFacts& other, const std::optional<base::Error>& refusal = {}) {
  TwoProcesses backend(options, 0, StartToText(other));
  const auto place = backend.Connect();
  const auto decision = AgreeOnStart(backend, options, *place, refusal);
  EXPECT_TRUE(decision.ok());
  return decision.value_or(StartDecision{});
}

TEST(CommonStartTest, TheSameGoesOn) {
  const Options options = Of({"all_reduce"});
  EXPECT_THAT(Decided(options, {.ranks = 2, .digest = DigestOf(options)}).refusal, IsEmpty());
}

TEST(CommonStartTest, WhyNot) {
  const Options options = Of({"all_reduce"});
  const std::string digest = DigestOf(options);
  EXPECT_THAT(Decided(options, {.ranks = 2, .digest = "1", .host = "far"}).refusal,
              HasSubstr("process 1 (far) was started with other flags"));
  EXPECT_EQ(Decided(options, {.ranks = 2, .digest = digest, .host = "far", .refusal = "m: gone"}).refusal,
            "process 1 (far): m: gone");
  EXPECT_EQ(Decided(options, {.ranks = 2, .digest = digest}, base::Error{.what = "gone", .where = "m"}).refusal,
            "process 0 (node0): m: gone");
  EXPECT_EQ(Decided(options, {.ranks = 2, .digest = digest, .host = "far", .refusal = "m: gone"},
                    base::Error{.what = "gone", .where = "m"})
                .refusal,
            "m: gone");
  const Options rooted = Of({"broadcast", "-r", "2"});
  EXPECT_THAT(Decided(rooted, {.ranks = 2, .digest = DigestOf(rooted)}).refusal,
              HasSubstr("process 0 (node0): -r: there is no such rank"));
}

TEST(CommonStartTest, TheOthersDecideNothing) {
  const Options options = Of({"all_reduce"});
  TwoProcesses backend(options, 1, "");
  const auto place = backend.Connect();
  // The simulated broadcast gives each its own text: nothing was judged here.
  const auto decision = AgreeOnStart(backend, options, *place, base::Error{.what = "gone"});
  ASSERT_TRUE(decision.ok());
  EXPECT_THAT(decision->refusal, IsEmpty());
}

TEST(CommonStartTest, DevicesOfAll) {
  const Options options = Of({"all_reduce"});
  SimulatedBackend backend({.options = options}, {.processes = 3, .describe = DevicesToText});
  ASSERT_TRUE(backend.Connect().ok());
  const auto texts = GatherDevices(backend);
  ASSERT_TRUE(texts.ok());
  EXPECT_THAT(*texts, SizeIs(3));
  EXPECT_EQ((*DevicesFromText((*texts)[2]))[0].rank, 2U);
}

TEST(CommonStartTest, CutsToTheMemory) {
  struct Case {
    std::vector<std::string> arguments;
    std::uint64_t memory;
    std::optional<std::uint64_t> cut;
    std::uint64_t min_bytes;
  };
  for (const Case& one : {
           Case{{"all_reduce", "-b", "512", "-e", "4K"}, 1ULL << 40U, {}, 512},
           Case{{"all_reduce", "-b", "512", "-e", "4K"}, 6144, 1024, 512},
           Case{{"all_reduce", "-b", "2K", "-e", "4K"}, 6144, 1024, 1024},
       }) {
    Options options = Of(one.arguments);
    SimulatedBackend backend({.options = options}, {.memory = one.memory});
    ASSERT_TRUE(backend.Connect().ok());
    const auto cut = CutToMemory(backend, options);
    ASSERT_TRUE(cut.ok());
    EXPECT_EQ(*cut, one.cut);
    EXPECT_EQ(options.sweep.max_bytes, one.cut.value_or(4096));
    EXPECT_EQ(options.sweep.min_bytes, one.min_bytes);
  }
}

}  // namespace
}  // namespace nccl_tune::bench
