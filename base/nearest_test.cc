// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace nccl_tune::base {
namespace {

const std::vector<std::string_view> kWords = {"mode", "gid_index", "bootstrap", "devices", "NCCL_IB_HCA", "NCCL_IB_TC"};

TEST(NearestTest, FindsWhatWasMeant) {
  const struct {
    const char* word;
    const char* meant;
  } kRows[] = {
      {"mode", "mode"},
      {"mod", "mode"},
      {"moed", "mode"},
      {"gid-index", "gid_index"},
      {"gidindex", "gid_index"},
      {"bootsrtap", "bootstrap"},
      {"NCCL_IB_HAC", "NCCL_IB_HCA"},
      {"NCCL_IB_TCC", "NCCL_IB_TC"},
      {"Device", "devices"},
  };
  for (const auto& row : kRows) EXPECT_EQ(Nearest(row.word, kWords), row.meant) << row.word;
}

TEST(NearestTest, GuessesNothingFar) {
  for (const char* word : {"", "x", "interfaces", "GLOO_SOCKET_IFNAME", "zzzz", "m", "NCCL"}) {
    EXPECT_EQ(Nearest(word, kWords), "") << word;
  }
  EXPECT_EQ(Nearest(std::string(100000, 'm'), kWords), "");
  EXPECT_EQ(Nearest("mode", {}), "");
}

}  // namespace
}  // namespace nccl_tune::base
