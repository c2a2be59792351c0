// SPDX-License-Identifier: Apache-2.0
#include "hw/read_gpu_driver.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/test_machine.h"

namespace nccl_tune::hw {
namespace {

constexpr const char* kVersion =
    "proc/driver/nvidia/version <<\n"
    "| NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n";

GpuDriver Read(const std::string& files, std::vector<facts::Note>* notes) {
  const CaptureTree tree(ParseMachine("nccl-tune-capture 1\nin .\n" + files));
  return ReadGpuDriver(tree, notes);
}

TEST(ReadGpuDriverTest, VersionAndTheFirstModel) {
  std::vector<facts::Note> notes;
  const auto got = Read(std::string(kVersion) +
                            "proc/driver/nvidia/gpus/0000:18:00.0/information <<\n| Model:   NVIDIA H200\n"
                            "| IRQ:     17\n"
                            "proc/driver/nvidia/gpus/0000:2a:00.0/information <<\n| Model: other\n",
                        &notes);
  EXPECT_EQ(got.version, "570.86.15");
  EXPECT_EQ(got.model, "NVIDIA H200");
  EXPECT_TRUE(notes.empty());
}

TEST(ReadGpuDriverTest, WhatIsNotThereIsUnknown) {
  struct Row {
    std::string files;
    bool version;
    bool noted;
  };
  const std::string gpu = "proc/driver/nvidia/gpus/0000:18:00.0/information";
  const std::vector<Row> rows = {
      {"proc/other = 1\n", false, false},
      {gpu + " = Model: NVIDIA H200\n", false, false},
      {"proc/driver/nvidia/version = none of ours\n", false, true},
      {"proc/driver/nvidia/version ! EIO\n", false, true},
      {kVersion, true, false},
      {kVersion + std::string("proc/driver/nvidia/gpus /\n"), true, false},
      {kVersion + gpu + " =\n", true, false},
      {kVersion + gpu + " = Model:\n", true, false},
      {kVersion + gpu + " = Modell: NVIDIA H200\n", true, false},
      {kVersion + gpu + " ! EACCES\n", true, true},
      {kVersion + std::string("proc/driver/nvidia/gpus/0000:18:00.0/other = 1\n"), true, false},
  };
  for (const auto& row : rows) {
    std::vector<facts::Note> notes;
    const auto got = Read(row.files, &notes);
    EXPECT_EQ(got.version.has_value(), row.version) << row.files;
    EXPECT_EQ(got.model, std::nullopt) << row.files;
    EXPECT_EQ(!notes.empty(), row.noted) << row.files;
  }
}

}  // namespace
}  // namespace nccl_tune::hw
