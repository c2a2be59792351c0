// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nccl_tune::cli {
namespace {

using Words = std::vector<std::string>;

TEST(OptionsTest, CommandsAndTheirDefaults) {
  EXPECT_EQ(ParseOptions({"facts"})->format, Format::kText);
  EXPECT_EQ(ParseOptions({"env"})->format, Format::kShell);
  EXPECT_EQ(ParseOptions({"explain"})->command, Command::kExplain);
  EXPECT_EQ(ParseOptions({"capture", "f"})->output, "f");
  EXPECT_EQ(ParseOptions({"check-policy", "f"})->command, Command::kCheckPolicy);
  EXPECT_EQ(ParseOptions({"check-policy", "f"})->policy, "f");
  EXPECT_EQ(ParseOptions({"check-policy", "--help"})->command, Command::kHelp);
  EXPECT_EQ(ParseOptions({"--help"})->command, Command::kHelp);
  EXPECT_EQ(ParseOptions({"env", "--bad-but-too-late", "--help"}).ok(), false);
  EXPECT_EQ(ParseOptions({"env", "--help"})->command, Command::kHelp);
  EXPECT_EQ(ParseOptions({"--version"})->command, Command::kVersion);
}

TEST(OptionsTest, ValuesInBothForms) {
  EXPECT_EQ(ParseOptions({"env", "--root", "/r"})->root, "/r");
  EXPECT_EQ(ParseOptions({"env", "--root=/r"})->root, "/r");
  EXPECT_EQ(ParseOptions({"env", "--format=conf"})->format, Format::kConf);
  EXPECT_EQ(ParseOptions({"env", "--node-addr", "10.0.0.1"})->node_addr->ToString(), "10.0.0.1");
  EXPECT_EQ(ParseOptions({"explain", "--policy", "p.toml"})->site_policy, "p.toml");
  EXPECT_TRUE(ParseOptions({"env", "--mpi"})->mpi);
  EXPECT_FALSE(ParseOptions({"env"})->mpi);
  const auto none = ParseOptions({"env", "--node-addr", ""});
  EXPECT_TRUE(none->node_addr_given);
  EXPECT_FALSE(none->node_addr);
}

TEST(OptionsTest, BadInputNamesTheWordAndWhatIsValid) {
  const struct {
    Words words;
    std::string message;
  } kCases[] = {
      {{}, "no command: got \"\", expected facts, env, explain, capture, check-policy or doctor"},
      {{"enviroment"},
       "unknown command: got \"enviroment\", expected facts, env, explain, capture, check-policy or doctor"},
      {{""}, "unknown command: got \"\", expected facts, env, explain, capture, check-policy or doctor"},
      {{"env", "--rot", "/"},
       "unknown option: got \"--rot\", expected --root, --host, --node-addr, --policy, --mpi, --format or --help"},
      {{"env", "-r"},
       "unknown option: got \"-r\", expected --root, --host, --node-addr, --policy, --mpi, --format or --help"},
      {{"env", "--root"}, "--root without a value: got \"\", expected --root VALUE"},
      {{"env", "--root="}, "--root without a folder: got \"\", expected a folder with sys/ below it"},
      {{"env", "--host="}, "--host without a file: got \"\", expected a capture of a machine"},
      {{"env", "--format", "xml"}, "unknown format for env: got \"xml\", expected shell|json|conf"},
      {{"env", "--format", "text"}, "unknown format for env: got \"text\", expected shell|json|conf"},
      {{"env", "--format", ""}, "unknown format for env: got \"\", expected shell|json|conf"},
      {{"facts", "--format", "conf"}, "unknown format for facts: got \"conf\", expected text|json"},
      {{"capture", "f", "--format", "json"}, "unknown format for capture: got \"json\", expected no --format"},
      {{"env", "--node-addr", "server1"},
       "--node-addr is no address: got \"server1\", expected an IPv4 or IPv6 address, or nothing for none known"},
      {{"env", "--node-addr", "10.0.0.1/24"},
       "--node-addr is no address: got \"10.0.0.1/24\", expected an IPv4 or IPv6 address, or nothing for none known"},
      {{"env", "more"}, "unexpected word after env: got \"more\", expected only options"},
      {{"capture"}, "capture without a file: got \"\", expected capture FILE"},
      {{"capture", "a", "b"}, "unexpected word after capture: got \"b\", expected only options"},
      {{"capture", ""}, "capture to a file without a name: got \"\", expected capture FILE"},
      {{"check-policy", ""}, "check-policy of a file without a name: got \"\", expected check-policy FILE"},
      {{"check-policy", "a", "b"}, "unexpected word after check-policy: got \"b\", expected one file"},
      {{"check-policy", "a", "--root", "/"},
       "option that check-policy does not take: got \"--root\", expected check-policy FILE"},
      {{"check-policy", "a", "--format=json"},
       "option that check-policy does not take: got \"--format\", expected check-policy FILE"},
      {{"check-policy", "a", "--strict"},
       "unknown option: got \"--strict\", expected --root, --host, --node-addr, --policy, --mpi, --format or --help"},
      {{"env", "--policy="}, "--policy without a file: got \"\", expected a site policy; docs/site-policy.md"},
      {{"facts", "--policy", "p"},
       "option of env and explain only: got \"--policy\", expected no such option for facts"},
      {{"capture", "f", "--mpi"}, "option of env and explain only: got \"--mpi\", expected no such option for capture"},
      {{"env", "--mpi=yes"}, "--mpi takes no value: got \"yes\", expected --mpi"},
      {{"env", "f"}, "unexpected word after env: got \"f\", expected only options"},
      {{"env", "--root", "/", "--host", "f"}, "--root and --host together: got \"f\", expected one of them"},
  };
  for (const auto& c : kCases) {
    const auto got = ParseOptions(c.words);
    ASSERT_FALSE(got.ok()) << c.message;
    EXPECT_EQ(got.error().ToString(), c.message + ". Try: nccl-tune --help");
  }
}

}  // namespace
}  // namespace nccl_tune::cli
