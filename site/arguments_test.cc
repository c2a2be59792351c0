// SPDX-License-Identifier: Apache-2.0
#include "site/arguments.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::site {
namespace {

TEST(ArgumentsTest, Good) {
  Arguments out;
  for (const char* argument : {"default=explain", "policy=/srv/p.toml", "timeout_ms=10000"})
    EXPECT_TRUE(TakeArgument(argument, &out).ok()) << argument;
  EXPECT_TRUE(out.site_default.explain);
  EXPECT_FALSE(out.default_by_policy);
  EXPECT_EQ(out.policy, "/srv/p.toml");
  EXPECT_EQ(out.deadline.count(), 10000);
  EXPECT_TRUE(TakeArgument("default=policy", &out).ok());
  EXPECT_TRUE(out.default_by_policy);
  EXPECT_TRUE(TakeArgument("default=off", &out).ok());
  EXPECT_FALSE(out.site_default.Active());
}

TEST(ArgumentsTest, BadOnesChangeNothing) {
  const std::string unknown = ", expected default=MODE, policy=FILE or timeout_ms=NUMBER";
  const std::string modes = ", expected policy, off, auto, explain, dry-run, strict or mpi";
  const struct {
    const char* argument;
    std::string message;
  } kRows[] = {
      {"", "unknown argument: got \"\"" + unknown},
      {"debug", "unknown argument: got \"debug\"" + unknown},
      {"Default=auto", "unknown argument: got \"Default=auto\"" + unknown + ". Did you mean default?"},
      {"=auto", "unknown argument: got \"=auto\"" + unknown},
      {"default", "default without a mode: got \"default\"" + modes},
      {"default=", "default without a mode: got \"default=\"" + modes},
      {"default=fast", "default: unknown mode: got \"fast\"" + modes},
      {"default=on", "default: unknown mode: got \"on\"" + modes + ". Did you mean auto?"},
      {"default=Policy", "default: unknown mode: got \"Policy\"" + modes},
      {"default=auto\r", "default: unknown mode: got \"auto\\x0d\"" + modes + ". Did you mean auto?"},
      {"defalt=auto", "unknown argument: got \"defalt=auto\"" + unknown + ". Did you mean default?"},
      {"timeout_m=9", "unknown argument: got \"timeout_m=9\"" + unknown + ". Did you mean timeout_ms?"},
      {"timeout_ms", "bad timeout_ms: got \"\", expected 1 to 10000"},
      {"timeout_ms=0", "bad timeout_ms: got \"0\", expected 1 to 10000"},
      {"timeout_ms=10001", "bad timeout_ms: got \"10001\", expected 1 to 10000"},
      {"timeout_ms=-5", "bad timeout_ms: got \"-5\", expected 1 to 10000"},
      {"timeout_ms=5s", "bad timeout_ms: got \"5s\", expected 1 to 10000"},
      {"policy", "bad policy: got \"\", expected an absolute path of a file"},
      {"policy=nccl-tune.toml", "bad policy: got \"nccl-tune.toml\", expected an absolute path of a file"},
      {"policy=/etc/", "bad policy: got \"/etc/\", expected an absolute path of a file"},
  };
  for (const auto& row : kRows) {
    Arguments out;
    const auto got = TakeArgument(row.argument, &out);
    ASSERT_FALSE(got.ok()) << row.argument;
    EXPECT_EQ(got.error().ToString(), row.message) << row.argument;
    EXPECT_EQ(out.site_default, Mode{});
    EXPECT_FALSE(out.default_by_policy);
    EXPECT_EQ(out.policy, "");
    EXPECT_EQ(out.deadline.count(), 500);
  }
}

}  // namespace
}  // namespace nccl_tune::site
