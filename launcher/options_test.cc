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
  const auto options = ParseOptions({"--verbose", "--start-timeout", "2.5", "--", "prog", "--verbose", "--", "-x"});
  ASSERT_TRUE(options.ok()) << options.error().ToString();
  EXPECT_TRUE(options->verbose);
  EXPECT_EQ(options->start_limit.count(), 2500);
  EXPECT_THAT(options->program, ElementsAre("prog", "--verbose", "--", "-x"));
  EXPECT_EQ(ParseOptions({"--timeout=7", "--", "p"})->timeout->count(), 7000);
  EXPECT_EQ(ParseOptions({"--", "p"})->timeout.has_value(), false);
}

TEST(OptionsTest, DefaultsAreSupervisedAndWarn) {
  const auto options = ParseOptions({"--", "p"});
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->exec);
  EXPECT_EQ(options->preflight, PreflightMode::kWarn);
  EXPECT_EQ(options->bind, BindMode::kNone);
  EXPECT_EQ(options->preflight_limit.count(), 10'000);
  EXPECT_EQ(options->start_limit.count(), 60'000);
  EXPECT_EQ(options->grace.count(), 20'000);
  EXPECT_FALSE(options->procs_per_node.has_value());
  EXPECT_FALSE(options->requeue_on.any());
}

TEST(OptionsTest, EachOptionIsRead) {
  const auto options =
      ParseOptions({"--preflight=fail", "--preflight-timeout=3", "--procs-per-node", "8", "--bind=gpu", "--own-gpu",
                    "--log-dir", "/logs", "--tag-output", "--grace", "0", "--no-output-timeout=600",
                    "--requeue-on=node,hang,timeout,signal,exit:75,exit:3", "--", "p"});
  ASSERT_TRUE(options.ok()) << options.error().ToString();
  EXPECT_EQ(options->preflight, PreflightMode::kFail);
  EXPECT_EQ(options->preflight_limit.count(), 3000);
  EXPECT_EQ(options->procs_per_node, 8U);
  EXPECT_EQ(options->bind, BindMode::kGpu);
  EXPECT_TRUE(options->own_gpu);
  EXPECT_EQ(options->log_dir, "/logs");
  EXPECT_TRUE(options->tag_output);
  EXPECT_EQ(options->grace.count(), 0);
  EXPECT_EQ(options->no_output->count(), 600'000);
  EXPECT_TRUE(options->requeue_on.node && options->requeue_on.hang && options->requeue_on.timeout &&
              options->requeue_on.signal);
  EXPECT_THAT(options->requeue_on.exit_codes, ElementsAre(75, 3));
  EXPECT_EQ(ParseOptions({"--procs-per-node=gpu", "--", "p"})->procs_per_node, 0U);
  EXPECT_TRUE(ParseOptions({"--exec", "--bind=numa", "--", "p"}).ok());
  EXPECT_EQ(ParseOptions({"--check"})->mode, Mode::kCheck);
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
           {{"--verbos", "--", "p"}, "--verbos: unknown option. Did you mean --verbose?"},
           {{"--tag-outptu", "--", "p"}, "Did you mean --tag-output?"},
           {{"--nodes=3", "--", "p"}, "--nodes=3: unknown option; valid are --help, --version, --verbose"},
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
           {{"--start-timeout", "0", "--", "p"}, "--start-timeout: not a time"},
           {{"--preflight-timeout", "x", "--", "p"}, "--preflight-timeout: not a time"},
           {{"--no-output-timeout", "", "--", "p"}, "--no-output-timeout: not a time"},
           {{"--grace", "-1", "--", "p"}, "--grace: not a time"},
           {{"--grace", "00", "--", "p"}, "--grace: not a time"},
           {{"--preflight", "on", "--", "p"},
            "--preflight: not a kind of preflight: got \"on\", expected off, warn or fail"},
           {{"--preflight=", "--", "p"}, "expected off, warn or fail"},
           {{"--bind", "GPU", "--", "p"}, "--bind: not a way to bind: got \"GPU\", expected gpu, numa or none"},
           {{"--procs-per-node", "0", "--", "p"}, "--procs-per-node: not a number of ranks"},
           {{"--procs-per-node", "-1", "--", "p"}, "a number from 1 to 4096, or gpu"},
           {{"--procs-per-node", "4097", "--", "p"}, "got \"4097\""},
           {{"--procs-per-node", "gpus", "--", "p"}, "got \"gpus\""},
           {{"--log-dir", "", "--", "p"}, "--log-dir: not a folder"},
           {{"--requeue-on", "", "--", "p"}, "--requeue-on: not a list of failures"},
           {{"--requeue-on", "node,", "--", "p"}, "got \"node,\""},
           {{"--requeue-on", "nodes", "--", "p"}, "expected node, hang, timeout, signal, exit:CODE"},
           {{"--requeue-on", "exit", "--", "p"}, "exit:CODE (1 to 255)"},
           {{"--requeue-on", "exit:0", "--", "p"}, "exit:CODE (1 to 255)"},
           {{"--requeue-on", "exit:256", "--", "p"}, "exit:CODE (1 to 255)"},
           {{"--requeue-on", "exit:1x", "--", "p"}, "exit:CODE (1 to 255)"},
           {{"--exec", "--log-dir", "d", "--", "p"}, "--log-dir: needs a parent of PROGRAM, which --exec does without"},
           {{"--procs-per-node=2", "--exec", "--", "p"}, "--procs-per-node: needs a parent"},
           {{"--exec", "--tag-output", "--", "p"}, "--tag-output: needs a parent"},
           {{"--exec", "--timeout=1", "--", "p"}, "--timeout: needs a parent"},
           {{"--exec"}, "no program to run"},
           {{"--check", "--", "p"}, "--check: takes no PROGRAM"},
           {{"--check", "--preflight=off"}, "--check: compares the nodes, and --preflight=off does not"},
           {{"--check", "p"}, "p: is no option"},
       }) {
    const auto options = ParseOptions(one.arguments);
    ASSERT_FALSE(options.ok()) << one.message;
    EXPECT_THAT(options.error().ToString(), HasSubstr(one.message));
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
