// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu_watch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace nccl_tune::bench {
namespace {

using std::chrono::milliseconds;

constexpr const char* kFake = "bench/libfake_nvml.so";
constexpr milliseconds kLong{20000};

std::unique_ptr<GpuWatch> Start(const char* mood, const std::string& library = kFake) {
  setenv("FAKE_NVML", mood, 1);
  auto watch = GpuWatch::Start(library);
  EXPECT_TRUE(watch.ok());
  return std::move(watch).value();
}

std::string Ask(GpuWatch* watch, milliseconds patience) {
  const auto gpus = watch->Read(patience);
  return gpus.ok() ? std::to_string(gpus->size()) + " GPUs" : gpus.error().ToString();
}

// Nothing that we started is left.
void ExpectNoChildren() {
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(GpuWatchTest, AnswersAgainAndAgain) {
  auto watch = Start("");
  EXPECT_EQ(Ask(watch.get(), kLong), "2 GPUs");
  EXPECT_EQ(Ask(watch.get(), kLong), "2 GPUs");
  const auto gpus = watch->Read(kLong);
  ASSERT_TRUE(gpus.ok());
  EXPECT_EQ(gpus.value()[1].pci.ToString(), "0000:19:00.0");
  EXPECT_EQ(gpus.value()[1].processes, (std::vector<std::int64_t>{101, 4711}));
  EXPECT_EQ(gpus.value()[1].thermal_held, 7U);
  watch.reset();
  ExpectNoChildren();
}

TEST(GpuWatchTest, NeitherHangsNorCrashes) {
  const struct {
    const char* mood;
    const char* library;
    milliseconds patience;
    const char* shown;
  } rows[] = {
      {"hangs", kFake, milliseconds(300), "NVML does not answer within 300 ms"},
      {"hangs at start", kFake, milliseconds(300), "NVML does not answer within 300 ms"},
      {"crashes", kFake, kLong, "the process that asked NVML has died"},
      {"crashes at start", kFake, kLong, "the process that asked NVML has died"},
      {"ends the process", kFake, kLong, "the process that asked NVML has died"},
      {"no driver", kFake, kLong, "bench/libfake_nvml.so: nvmlInit failed: got \"code 9\""},
      {"none", kFake, kLong, "0 GPUs"},
      {"", "libc.so.6", kLong, "libc.so.6: lacks functions of NVML 11"},
  };
  for (const auto& row : rows) {
    auto watch = Start(row.mood, row.library);
    EXPECT_EQ(Ask(watch.get(), row.patience), row.shown) << row.mood;
    const std::string again = Ask(watch.get(), row.patience);
    const bool is_gone = std::string(row.shown).find("NVML has died") != std::string::npos ||
                         std::string(row.shown).find("does not answer") != std::string::npos;
    EXPECT_EQ(again, is_gone ? "NVML was given up" : row.shown) << row.mood;
    watch.reset();
    ExpectNoChildren();
  }
}

// With a driver it has GPUs, without one a reason.
TEST(GpuWatchTest, TheLibraryOfThisMachine) {
  auto watch = GpuWatch::Start();
  ASSERT_TRUE(watch.ok());
  const auto gpus = watch.value()->Read(kLong);
  std::cout << WriteGpus(gpus) << "\n";
  if (gpus.ok()) {
    for (const auto& gpu : *gpus) {
      EXPECT_GT(gpu.highest_clock.value_or(0), 100U);
      EXPECT_LT(gpu.highest_clock.value_or(0), 10000U);
    }
  } else {
    EXPECT_FALSE(gpus.error().what.empty());
  }
}

TEST(GpuWatchTest, EndsUnasked) {
  Start("hangs at start").reset();
  Start("").reset();
  ExpectNoChildren();
}

TEST(ParseGpusTest, WhatIsWrittenIsRead) {
  GpuState gpu{.pci = {.domain = 1, .bus = 2, .device = 3, .function = 0},
               .processes = {1, 2},
               .clock = 100,
               .highest_clock = std::nullopt,
               .throttle_reasons = 1ULL << 60U,
               .power_held = 5,
               .thermal_held = std::nullopt};
  const auto got = ParseGpus(WriteGpus(std::vector<GpuState>{gpu}));
  ASSERT_TRUE(got.ok());
  ASSERT_EQ(got->size(), 1U);
  EXPECT_EQ(WriteGpus(got), WriteGpus(std::vector<GpuState>{gpu}));
  EXPECT_EQ(got.value()[0].throttle_reasons, 1ULL << 60U);
  EXPECT_FALSE(got.value()[0].highest_clock);
}

TEST(ParseGpusTest, Odd) {
  for (const char* text : {"", "{", "[]", "7", "{}", R"({"gpus":{}})", R"({"gpus":"x"})"}) {
    EXPECT_FALSE(ParseGpus(text).ok()) << text;
  }
  for (const char* text :
       {R"({"gpus":[7]})", R"({"gpus":[{}]})", R"({"gpus":[{"pci":"x","processes":["a",null],"clock":-1}]})",
        R"({"gpus":[{"processes":7,"clock":"fast","power_held":-9,"highest_clock":99999999999}]})"}) {
    const auto got = ParseGpus(text);
    ASSERT_TRUE(got.ok()) << text;
    EXPECT_EQ(WriteGpus(got), WriteGpus(std::vector<GpuState>{GpuState{}})) << text;
  }
  const auto failed = ParseGpus(R"({"error":"no driver"})");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().what, "no driver");
}

TEST(OnlyThoseTest, ByPlace) {
  const std::vector<GpuState> gpus = {{.pci = {.bus = 0x18}}, {.pci = {.bus = 0x19}}};
  EXPECT_EQ(OnlyThose(gpus, {}).size(), 2U);
  EXPECT_EQ(OnlyThose(gpus, {{.bus = 0x19}}).size(), 1U);
  EXPECT_EQ(OnlyThose(gpus, {{.bus = 0x20}}).size(), 0U);
  EXPECT_EQ(OnlyThose(gpus, {{.domain = 1, .bus = 0x19}}).size(), 0U);
}

}  // namespace
}  // namespace nccl_tune::bench
