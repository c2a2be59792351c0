// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/settable.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::nccl {
namespace {

TEST(SettableTest, GoodNames) {
  for (const char* name : {"NCCL_IB_TC", "NCCL_X", "NCCL_NEW_9", "NCCL_TUNER_NEW", "NCCL_TUNER_CONFIG_FILE",
                           "GLOO_SOCKET_IFNAME", "UCX_NET_DEVICES"}) {
    EXPECT_TRUE(CheckSettableName(name).ok()) << name;
  }
}

TEST(SettableTest, BadNames) {
  const std::string legal = ", expected NCCL_ and capitals, or one of docs/site-policy.md";
  const struct {
    std::string name;
    std::string message;
  } kRows[] = {
      {"", "not a variable that can be set: got \"\"" + legal},
      {"PATH", "not a variable that can be set: got \"PATH\"" + legal},
      {"LD_PRELOAD", "not a variable that can be set: got \"LD_PRELOAD\"" + legal},
      {"NCCL_", "not a variable that can be set: got \"NCCL_\"" + legal},
      {"nccl_ib_tc", "not a variable that can be set: got \"nccl_ib_tc\"" + legal},
      {"NCCL_A B", "not a variable that can be set: got \"NCCL_A B\"" + legal},
      {"NCCL_A=B", "not a variable that can be set: got \"NCCL_A=B\"" + legal},
      {"NCCL_A\n", "not a variable that can be set: got \"NCCL_A\\x0a\"" + legal},
      {"MY_NCCL_X", "not a variable that can be set: got \"MY_NCCL_X\"" + legal},
      {"GLOO_SOCKET_IFNAM",
       "not a variable that can be set: got \"GLOO_SOCKET_IFNAM\"" + legal + ". Did you mean GLOO_SOCKET_IFNAME?"},
      {"NCCL_TUNE", "a variable of ours, which cannot be set: got \"NCCL_TUNE\", expected another NCCL_ name"},
      {"NCCL_TUNE_PLAN",
       "a variable of ours, which cannot be set: got \"NCCL_TUNE_PLAN\", expected another NCCL_ name"},
      {"NCCL_" + std::string(60, 'A'),
       "not a variable that can be set: got \"NCCL_" + std::string(60, 'A') + "\"" + legal},
  };
  for (const auto& row : kRows) {
    const auto got = CheckSettableName(row.name);
    ASSERT_FALSE(got.ok()) << row.name;
    EXPECT_EQ(got.error().ToString(), row.message);
  }
}

TEST(SettableTest, Values) {
  for (const char* good : {"1", "a b", "=x,y", "^"}) EXPECT_TRUE(CheckSettableValue("NCCL_NEW", good).ok()) << good;
  EXPECT_TRUE(CheckSettableValue("NCCL_IB_TC", "106").ok());
  EXPECT_TRUE(CheckSettableValue("NCCL_NEW", std::string(kLongestValue, 'x')).ok());
  const struct {
    const char* name;
    std::string value;
    const char* what;
  } kRows[] = {
      {"NCCL_NEW", "", "empty value"},
      {"NCCL_IB_TC", "", "empty value"},
      {"NCCL_NEW", "a\nb", "a line end or other control character in the value"},
      {"NCCL_NEW", "caf\xc3\xa9", "a character beyond ASCII in the value"},
      {"NCCL_IB_HCA", "=mlx5_\xff", "a character beyond ASCII in the value"},
      {"NCCL_NEW", "\x7f", "a line end or other control character in the value"},
      {"NCCL_NEW", std::string("a\0b", 3), "a line end or other control character in the value"},
      {"NCCL_IB_TC", "300", "number out of range"},
      {"NCCL_IB_TC", "high", "text, which reads silently as 0"},
      {"NCCL_IB_HCA", "^=a,^=b", "a symbol counts only at the start, here it is part of a name"},
      {"NCCL_NEW", std::string(1024, 'x'), "value of 1024 bytes"},
      {"NCCL_IB_HCA", std::string(1024, 'x'), "value of 1024 bytes"},
  };
  for (const auto& row : kRows) {
    const auto got = CheckSettableValue(row.name, row.value);
    ASSERT_FALSE(got.ok()) << row.name << row.value;
    EXPECT_EQ(got.error().what, row.what);
  }
}

TEST(SettableTest, NearNames) {
  for (const char* known : {"NCCL_IB_HCA", "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "GLOO_SOCKET_IFNAME"})
    EXPECT_TRUE(IsKnownName(known)) << known;
  for (const char* not_known : {"", "NCCL_", "NCCL_DEBUGS", "NCCL_IB_HAC", "PATH"})
    EXPECT_FALSE(IsKnownName(not_known)) << not_known;
  EXPECT_EQ(DidYouMean("NCCL_IB_HAC"), "Did you mean NCCL_IB_HCA?");
  EXPECT_EQ(DidYouMean("NCCL_SOMETHING_ELSE_ENTIRELY"), "");
}

}  // namespace
}  // namespace nccl_tune::nccl
