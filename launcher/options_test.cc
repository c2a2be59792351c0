// SPDX-License-Identifier: Apache-2.0
#include "launcher/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

TEST(OptionsTest, ReadsOptionsAndLeavesTheProgramAlone) {
  const auto options = ParseOptions({"--verbose", "--timeout", "2.5", "--", "prog", "--verbose", "--", "-x"});
  ASSERT_TRUE(options.ok()) << options.error().ToString();
  EXPECT_TRUE(options->verbose);
  EXPECT_EQ(options->timeout.count(), 2500);
  EXPECT_THAT(options->program, ElementsAre("prog", "--verbose", "--", "-x"));
  EXPECT_EQ(ParseOptions({"--timeout=7", "--", "p"})->timeout.count(), 7000);
  EXPECT_EQ(ParseOptions({"--", "p"})->timeout.count(), 60'000);
}

TEST(OptionsTest, HelpAndVersionNeedNoProgram) {
  EXPECT_EQ(ParseOptions({"--help"})->mode, Mode::kHelp);
  EXPECT_EQ(ParseOptions({"--version", "junk"})->mode, Mode::kVersion);
  EXPECT_THAT(HelpText(), HasSubstr("--timeout SECONDS"));
}

TEST(OptionsTest, RefusesTheRest) {
  struct Case {
    Arguments arguments;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{
           {{}, "no program to run"},
           {{"--"}, "no program to run"},
           {{"--", ""}, "no program to run"},
           {{"--verbose"}, "no program to run"},
           {{"prog"}, "prog: is no option; PROGRAM and its arguments stand after --"},
           {{"--verbos", "--", "p"}, "--verbos: unknown option; valid are --help, --version, --verbose, --timeout"},
           {{"-v", "--", "p"}, "-v: unknown option; valid are"},
           {{"--verbose=1", "--", "p"}, "--verbose=1: takes no value"},
           {{"--timeout", "--", "p"}, "--timeout: needs a value"},
           {{"--timeout"}, "--timeout: needs a value"},
           {{"--timeout", "0", "--", "p"}, "--timeout: not a time: got \"0\""},
           {{"--timeout", "-1", "--", "p"}, "got \"-1\""},
           {{"--timeout", "1s", "--", "p"}, "got \"1s\""},
           {{"--timeout=", "--", "p"}, "got \"\""},
           {{"--timeout", "1e9", "--", "p"}, "expected seconds"},
           {{"--timeout", "nan", "--", "p"}, "expected seconds"},
       }) {
    const auto options = ParseOptions(one.arguments);
    ASSERT_FALSE(options.ok()) << one.message;
    EXPECT_THAT(options.error().ToString(), HasSubstr(one.message));
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
