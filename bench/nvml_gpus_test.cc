// SPDX-License-Identifier: Apache-2.0
#include "bench/nvml_gpus.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace nccl_tune::bench {
namespace {

constexpr const char* kFake = "bench/libfake_nvml.so";

std::string Show(const std::string& library, const char* mood) {
  setenv("FAKE_NVML", mood, 1);
  const auto nvml = NvmlGpus::Open(library);
  if (!nvml.ok()) return nvml.error().ToString();
  const auto gpus = nvml->Read();
  if (!gpus.ok()) return gpus.error().ToString();
  const auto number = [](const auto& value) { return value ? std::to_string(*value) : "?"; };
  std::string out;
  for (const auto& gpu : *gpus) {
    out += gpu.pci.ToString() + " " + std::to_string(gpu.processes.size()) + " processes, clock " + number(gpu.clock) +
           "/" + number(gpu.highest_clock) + ", reasons " + std::to_string(gpu.throttle_reasons) + ", held " +
           number(gpu.power_held) + " " + number(gpu.thermal_held) + "; ";
  }
  return out;
}

TEST(NvmlGpusTest, ReadsTheGpusThatAreOurs) {
  EXPECT_EQ(Show(kFake, ""),
            "0000:18:00.0 2 processes, clock 1500/1980, reasons 32, held 5 7; "
            "0000:19:00.0 2 processes, clock 1500/1980, reasons 32, held 5 7; ");
  EXPECT_EQ(Show(kFake, "none"), "");
}

TEST(NvmlGpusTest, OddLibraries) {
  const std::string whole_but =
      "0000:18:00.0 0 processes, clock 1500/1980, reasons 32, held 5 7; "
      "0000:19:00.0 0 processes, clock 1500/1980, reasons 32, held 5 7; ";
  const struct {
    const char* mood;
    std::string shown;
  } rows[] = {
      {"no driver", "bench/libfake_nvml.so: nvmlInit failed: got \"code 9\""},
      {"no count", "nvmlDeviceGetCount: failed: got \"code 999\""},
      {"huge count",
       "0000:18:00.0 2 processes, clock 1500/1980, reasons 32, held 5 7; "
       "0000:19:00.0 2 processes, clock 1500/1980, reasons 32, held 5 7; "},
      {"odd places", ""},
      {"many processes", whole_but},
      {"no clocks",
       "0000:18:00.0 2 processes, clock ?/?, reasons 32, held 5 7; "
       "0000:19:00.0 2 processes, clock ?/?, reasons 32, held 5 7; "},
  };
  for (const auto& row : rows) EXPECT_EQ(Show(kFake, row.mood), row.shown) << row.mood;
  EXPECT_NE(Show(kFake, "wrong count").find("256 processes"), std::string::npos);
}

TEST(NvmlGpusTest, NoLibrary) {
  EXPECT_EQ(Show("libc.so.6", ""), "libc.so.6: lacks functions of NVML 11");
  EXPECT_NE(Show("libnothing-of-this-name.so.1", "").find("cannot open shared object file"), std::string::npos);
  EXPECT_NE(Show("bench/nothing.so", "").find("cannot open shared object file"), std::string::npos);
}

}  // namespace
}  // namespace nccl_tune::bench
