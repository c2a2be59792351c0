// SPDX-License-Identifier: Apache-2.0
//
// The kept samples are what nccl-bench's code makes today.
#include "tests/bench/samples.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace nccl_tune::bench {
namespace {

constexpr const char* kFolder = "tests/bench/samples";
constexpr const char* kRewrite = "; after a look at the difference: bazel run //tests/bench:update_samples";

TEST(SamplesTest, AreWhatTheCodeMakes) {
  std::set<std::string> files;
  for (const Sample& sample : MakeSamples()) {
    files.insert(sample.file);
    std::ifstream file(std::string(kFolder) + "/" + sample.file, std::ios::binary);
    EXPECT_TRUE(file.good()) << sample.file << " is missing" << kRewrite;
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(sample.text, text.str()) << sample.file << kRewrite;
  }
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    EXPECT_TRUE(files.contains(entry.path().filename().string())) << entry.path() << " is no sample" << kRewrite;
  }
}

}  // namespace
}  // namespace nccl_tune::bench
