// SPDX-License-Identifier: Apache-2.0
#include "envplugin/answers.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/environment.h"

namespace nccl_tune::envplugin {
namespace {

const env::Environment& OurValues() {
  static const env::Environment values = {{"NCCL_IB_HCA", "=mlx5_0:1"},
                                          {"NCCL_IB_GID_INDEX", "3"},
                                          {"NCCL_SOCKET_IFNAME", "=eth0"},
                                          {"NCCL_SITE_OWN", "1"}};
  return values;
}

std::string Find(const char* name, const base::Environment& process) {
  static const Answers answers(OurValues(), {});
  const char* got = answers.Find(name, [&](const std::string& asked) { return base::Lookup(process, asked); });
  return got == nullptr ? "none" : got;
}

TEST(AnswersTest, OurValuesWhereTheProcessHasNone) {
  EXPECT_EQ(Find("NCCL_IB_HCA", {}), "=mlx5_0:1");
  EXPECT_EQ(Find("NCCL_IB_GID_INDEX", {}), "3");
  EXPECT_EQ(Find("NCCL_SITE_OWN", {{"NCCL_DEBUG", "INFO"}}), "1");
  EXPECT_EQ(Find("NCCL_IB_GID_INDEX", {{"NCCL_IB_HCA", "=mlx5_0:1"}}), "3") << "the same ports as ours";
}

TEST(AnswersTest, NothingElse) {
  const struct {
    const char* name;
    base::Environment process;
    const char* why;
  } kRows[] = {
      {"NCCL_IB_TC", {}, "no value of ours"},
      {"", {}, "no name"},
      {"NCCL_IB_HCA=", {}, "no name"},
      {"nccl_ib_hca", {}, "names have case"},
      {"NCCL_IB_HC", {}, "a beginning is not the name"},
      {"NCCL_SOCKET_IFNAME", {{"NCCL_SOCKET_IFNAME", "eth1"}}, "set by now"},
      {"NCCL_SOCKET_IFNAME", {{"NCCL_SOCKET_IFNAME", ""}}, "an empty value is a value"},
      {"NCCL_IB_GID_INDEX", {{"NCCL_IB_HCA", "mlx5_9"}}, "computed for other ports"},
      {"NCCL_IB_GID_INDEX", {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}}, "its opposite is set"},
      {"NCCL_SITE_OWN", {{"NCCL_SITE_OWN", "2"}}, "set by now"},
  };
  for (const auto& row : kRows) EXPECT_EQ(Find(row.name, row.process), "none") << row.name << ": " << row.why;
}

TEST(AnswersTest, WhatTheProcessHadBeforeSpeaksAgainstNothing) {
  const Answers answers({{"NCCL_IB_GID_INDEX", "3"}}, {{"NCCL_IB_HCA", "=mlx5_0:1"}});
  const auto find = [&](const char* hcas) {
    const base::Environment process = {{"NCCL_IB_HCA", hcas}};
    const char* got =
        answers.Find("NCCL_IB_GID_INDEX", [&](const std::string& asked) { return base::Lookup(process, asked); });
    return std::string(got == nullptr ? "none" : got);
  };
  EXPECT_EQ(find("=mlx5_0:1"), "3");
  EXPECT_EQ(find("=mlx5_7:1"), "none");
}

TEST(AnswersTest, TheSameTextEachTime) {
  const Answers answers(OurValues(), {});
  const auto none = [](const std::string&) { return std::optional<std::string>(); };
  EXPECT_EQ(answers.Find("NCCL_IB_HCA", none), answers.Find("NCCL_IB_HCA", none));
}

}  // namespace
}  // namespace nccl_tune::envplugin
