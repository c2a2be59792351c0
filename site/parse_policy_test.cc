// SPDX-License-Identifier: Apache-2.0
#include "site/parse_policy.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/facts/ip_address.h"
#include "core/facts/node.h"
#include "core/policy/site_policy.h"
#include "site/document.h"

namespace nccl_tune::site {
namespace {

std::string Faults(std::string_view text) {
  std::string all;
  for (const auto& error : CheckPolicy(text, "p.toml").errors) all += (all.empty() ? "" : "\n") + error.ToString();
  return all;
}

std::string ReadFile(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ParsePolicyTest, EmptyTextIsThePolicyThatSaysNothing) {
  for (const char* text : {"", "\n", "# only a comment", "[devices]\n[set]\n[variables]"}) {
    const auto file = ParsePolicy(text, "p.toml");
    ASSERT_TRUE(file.ok()) << text;
    EXPECT_FALSE(file->keys.mode);
    EXPECT_TRUE(file->when.empty());
  }
}

TEST(ParsePolicyTest, WholePolicy) {
  const auto file = ParsePolicy(R"(
mode = "explain"
gid_index = "auto"
bootstrap = "eno1"
[devices]
exclude = [{ subnet = "192.168.40.0/22" }]
[set]
NCCL_IB_TIMEOUT = 22
[profile.patient]
NCCL_IB_TIMEOUT = "23"
[[when]]
partition = "gpu"
nodes = "node[01-16]"
mode = "off"
[when.traffic_class]
tc = 106
[[when]]
feature = ["ib"]
set.NCCL_DEBUG = "WARN"
profile.patient.NCCL_IB_RETRY_CNT = 7
)",
                                "p.toml");
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  EXPECT_EQ(file->keys.mode->origin.line, 2);
  EXPECT_EQ(file->keys.exclude_devices->front().origin.ToString(), "site policy, line 6: devices.exclude[1]");
  ASSERT_EQ(file->when.size(), 2U);
  EXPECT_EQ(file->when[0].origin.ToString(), "site policy, line 11: when[1]");
  EXPECT_EQ(file->when[0].keys.tc->origin.ToString(), "site policy, line 16: when[1].traffic_class.tc");
  const auto none = Resolve(*file, {});
  EXPECT_EQ(none.mode->value, policy::SiteMode::kExplain);
  EXPECT_EQ(none.set.size(), 1U);
  EXPECT_TRUE(Resolve(*file, {.node = "node07", .partition = "gpu", .features = {}}).IsOff());
  EXPECT_FALSE(Resolve(*file, {.node = "node17", .partition = "gpu", .features = {}}).IsOff());
  const auto infiniband = Resolve(*file, {.node = {}, .partition = {}, .features = {{"ib"}}});
  EXPECT_EQ(infiniband.set.at("NCCL_DEBUG").value, "WARN");
  EXPECT_EQ(infiniband.profiles.at("patient").size(), 2U);
}

constexpr const char* kKeys =
    "expected mode, gid_index, bootstrap, devices, interfaces, traffic_class, variables, set, profile, when";

TEST(ParsePolicyTest, BadPoliciesNameFileLineAndKey) {
  const std::string kBlockKeys =
      "expected partition, feature, nodes, mode, gid_index, bootstrap, devices, interfaces, traffic_class, variables, "
      "set, profile";
  const struct {
    std::string text;
    std::string message;
  } kRows[] = {
      {"mod = \"off\"", std::string("p.toml:1: unknown key: got \"mod\", ") + kKeys + ". Did you mean mode?"},
      {"\n\ngid-index = \"pin\"",
       std::string("p.toml:3: unknown key: got \"gid-index\", ") + kKeys + ". Did you mean gid_index?"},
      {"[device]\nexclude = []",
       std::string("p.toml:1: unknown key: got \"device\", ") + kKeys + ". Did you mean devices?"},
      {"[traffic-class]\ntc = 1",
       std::string("p.toml:1: unknown key: got \"traffic-class\", ") + kKeys + ". Did you mean traffic_class?"},
      {"[profiles.a]", std::string("p.toml:1: unknown key: got \"profiles\", ") + kKeys + ". Did you mean profile?"},
      {"partition = \"gpu\"", std::string("p.toml:1: unknown key: got \"partition\", ") + kKeys},
      {"NCCL_IB_TC = 106", std::string("p.toml:1: unknown key: got \"NCCL_IB_TC\", ") + kKeys},
      {"mode = true", "p.toml:1: mode: wrong type: got \"a boolean\", expected off, auto, explain, dry-run, in quotes"},
      {"[[when]]\npartitions = \"gpu\"",
       "p.toml:2: when[1]: unknown key: got \"partitions\", expected partition, feature, nodes, mode, gid_index, "
       "bootstrap, "
       "devices, interfaces, traffic_class, variables, set, profile. Did you mean partition?"},
      {"[mode]\nx = 1", "p.toml:1: mode: wrong type: got \"a table\", expected off, auto, explain, dry-run, in quotes"},
      {"devices = \"mlx5_0\"", "p.toml:1: devices: wrong type: got \"mlx5_0\", expected a table"},
      {"[[devices]]\nexclude = []", "p.toml:1: devices: wrong type: got \"a list\", expected a table"},
      {"[devices]\nexclude = [\n\"ok\",\n\"a b\"]",
       "p.toml:4: devices.exclude[2]: a character that no name has: got \"a b\", expected letters, digits, _ - . : @ "
       "+, * "
       "and ?"},
      {"[set]\nNCCL_IB_TC = 300",
       "p.toml:2: set.NCCL_IB_TC: number out of range: got \"300\", expected -1 to 255. It is DSCP x 4, so DSCP 26 is "
       "104 or 106."},
      {"[profile.p]\nLD_PRELOAD = \"x\"",
       "p.toml:2: profile.p.LD_PRELOAD: not a variable that can be set: got \"LD_PRELOAD\", expected NCCL_ and "
       "capitals, or one of docs/site-policy.md"},
      {"[when]\npartition = \"a\"", "p.toml:1: when: one table: got \"[when]\", expected a list of blocks: [[when]]"},
      {"when = 1", "p.toml:1: when: wrong type: got \"1\", expected a list in brackets"},
      {"when = [1]", "p.toml:1: when[1]: wrong type: got \"1\", expected a table"},
      {"[[when]]\nmode = \"off\"",
       "p.toml:1: when[1]: a block that does not say when: got \"no condition\", expected partition, feature or nodes"},
      {"[[when]]",
       "p.toml:1: when[1]: a block that does not say when: got \"no condition\", expected partition, feature or nodes"},
      {"[[when]]\nnodes = \"n1\"\n[[when]]\nnode = \"n1\"\nfeature = \"f\"",
       "p.toml:4: when[2]: unknown key: got \"node\", " + kBlockKeys + ". Did you mean nodes?"},
      {"[[when]]\npartition = \"a\"\n[[when.when]]\npartition = \"b\"",
       "p.toml:3: when[1]: unknown key: got \"when\", " + kBlockKeys},
      {"[[when]]\nnodes = \"n[1-\"",
       "p.toml:2: when[1].nodes: a bracket that does not close: got \"n[1-\", expected ]"},
      {"[[when]]\npartition = \"a\"\n[when.traffic_class]\ntc = 999",
       "p.toml:4: when[1].traffic_class.tc: number out of range: got \"999\", expected 0 to 255. It is DSCP x 4, so "
       "DSCP "
       "26 is 104 or 106"},
      {"[traffic_class]\ntc = 106\n[set]\nNCCL_IB_TC = 104",
       "p.toml:4: set.NCCL_IB_TC: given twice: got \"104\", expected this or traffic_class.tc of line 2"},
      {"bootstrap = \"eno1\"\n[set]\nNCCL_SOCKET_IFNAME = \"=eno2\"",
       "p.toml:3: set.NCCL_SOCKET_IFNAME: given twice: got \"=eno2\", expected this or bootstrap of line 1"},
      {"gid_index = \"auto\"\nset.NCCL_IB_GID_INDEX = 3",
       "p.toml:2: set.NCCL_IB_GID_INDEX: given twice: got \"3\", expected this or gid_index of line 1"},
      {"[variables]\ndeny = [\"NCCL_NET\"]\n[set]\nNCCL_NET = \"IB\"",
       "p.toml:4: set.NCCL_NET: set here and not let through by variables.allow and variables.deny: got \"NCCL_NET\", "
       "expected one that they let through"},
      {"[variables]\nallow = [\"NCCL_IB_*\"]\n[profile.p]\nNCCL_NET = \"IB\"",
       "p.toml:4: profile.p.NCCL_NET: set here and not let through by variables.allow and variables.deny: got "
       "\"NCCL_NET\", expected one that they let through"},
      {"[variables]\ndeny = [\"NCCL_NET\"]\n[[when]]\npartition = \"a\"\nset.NCCL_NET = \"IB\"",
       "p.toml:5: when[1].set.NCCL_NET: set here and not let through by variables.allow and variables.deny: got "
       "\"NCCL_NET\", expected one that they let through"},
      {std::string("mode = \"off\"\n\0", 14),
       "p.toml:2: not a text file: a control character: got \"\\x00\", expected TOML in UTF-8"},
  };
  for (const auto& row : kRows) EXPECT_EQ(Faults(row.text), row.message);
}

TEST(ParsePolicyTest, DuplicatesAndBrokenTextAreNotToml) {
  for (const char* text : {"mode = \"off\"\nmode = \"auto\"", "[set]\n[set]", "[set]\nA = 1\nA = 1", "mode = off",
                           "[devices\n", "x", "mode = \"off\"]"}) {
    const std::string faults = Faults(text);
    EXPECT_EQ(faults.find("p.toml:"), 0U) << faults;
    EXPECT_NE(faults.find("not TOML: "), std::string::npos) << faults;
    EXPECT_EQ(faults.find('\n'), std::string::npos) << faults;
  }
}

TEST(ParsePolicyTest, EveryFaultInOrderOfLines) {
  const std::string text =
      "mode = \"on\"\n[set]\nPATH = \"x\"\nNCCL_IB_SL = 16\n[devices]\nexclude = [{ rate = 0 }]\n[extra]\n";
  std::string lines;
  for (const auto& error : CheckPolicy(text, "p.toml").errors) lines += error.where + " ";
  EXPECT_EQ(lines, "p.toml:1 p.toml:3 p.toml:4 p.toml:6 p.toml:7 ");
  EXPECT_EQ(ParsePolicy(text, "p.toml").error().ToString(),
            "p.toml:1: mode: no such value: got \"on\", expected off, auto, explain, dry-run. 4 more faults: see "
            "nccl-tune check-policy");
  EXPECT_EQ(ParsePolicy("mode = 1\ngid_index = 2", "p").error().ToString(),
            "p:1: mode: wrong type: got \"1\", expected off, auto, explain, dry-run, in quotes. 1 more fault: see "
            "nccl-tune check-policy");
}

TEST(ParsePolicyTest, UnknownNcclVariablesAreNoted) {
  const auto checked = CheckPolicy("[set]\nNCCL_IB_HAC = \"=mlx5_0:1\"\n", "p.toml");
  EXPECT_TRUE(checked.errors.empty());
  ASSERT_EQ(checked.notes.size(), 1U);
  EXPECT_EQ(checked.notes[0].where, "p.toml:2");
}

TEST(ParsePolicyTest, AFileNameWithColonsIsKept) {
  EXPECT_EQ(CheckPolicy("mode = 1\nx = 1", "a:7:b").errors.back().where, "a:7:b:2");
}

// The paths of all keys below a value; entries of a list are "[]", and exclude counts as include.
void Collect(const Value& value, const std::string& path, std::set<std::string>* out) {
  for (const Value& item : value.items) Collect(item, path + "[]", out);
  for (const Member& member : value.members) {
    const std::string key = path.empty() ? member.key : path + "." + member.key;
    out->insert(key);
    Collect(member.value, key, out);
  }
}

// The example with the # taken away that stand directly before a key.
std::string Uncommented() {
  std::istringstream in(ReadFile("etc/nccl-tune.toml"));
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const bool key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    out += (key ? line.substr(1) : line) + "\n";
  }
  return out;
}

// What a plan cannot carry would leave every step untuned.
TEST(ParsePolicyTest, WhatCanBeSetAtOnceIsBounded) {
  const auto many = [](const char* table, char first, int count) {
    std::string out = std::string(table) + "\n";
    for (int i = 0; i < count; ++i)
      out += std::string("NCCL_X") + first + std::to_string(i) + " = \"" + std::string(500, 'x') + "\"\n";
    return out;
  };
  EXPECT_EQ(Faults(many("[set]", 'A', 8)), "");
  EXPECT_EQ(
      Faults(many("[set]", 'A', 9)),
      "p.toml:2: set.NCCL_XA0: too much to set together: got \"4572 bytes\", expected at most 4096 bytes of names "
      "and values. Put what is longer into /etc/nccl.conf.");
  EXPECT_EQ(Faults(many("[set]", 'A', 5) + many("[profile.p]", 'A', 8)), "") << "the same names";
  EXPECT_NE(Faults(many("[set]", 'A', 5) + many("[profile.p]", 'B', 5)), "");
  EXPECT_EQ(Faults(many("[profile.p]", 'A', 5) + many("[profile.q]", 'B', 5)), "") << "one profile at a time";
  const std::string blocks = "[[when]]\nnodes = \"a\"\n" + many("[when.set]", 'A', 5) + "[[when]]\nnodes = \"b\"\n";
  EXPECT_NE(Faults(blocks + many("[when.set]", 'B', 5)), "") << "both blocks may hold";
}

TEST(ParsePolicyTest, TheExampleSaysNothingUntilUncommented) {
  const auto file = ParsePolicy(ReadFile("etc/nccl-tune.toml"), "etc/nccl-tune.toml");
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  EXPECT_FALSE(file->keys.mode);
  EXPECT_TRUE(file->keys.set.empty());
  EXPECT_TRUE(file->when.empty());
}

TEST(ParsePolicyTest, TheExampleHoldsEveryKey) {
  const std::string text = Uncommented();
  const auto checked = CheckPolicy(text, "etc/nccl-tune.toml");
  EXPECT_TRUE(checked.notes.empty());
  for (const auto& error : checked.errors) ADD_FAILURE() << error.ToString();
  const auto document = ParseDocument(text, "etc/nccl-tune.toml");
  ASSERT_TRUE(document.ok());
  std::set<std::string> keys;
  Collect(*document, "", &keys);
  for (const std::string& key : PolicyKeys()) EXPECT_TRUE(keys.count(key)) << key;
}

TEST(ParsePolicyTest, TheDocumentHasARowForEveryKey) {
  const std::string text = ReadFile("docs/site-policy.md");
  for (const std::string& key : PolicyKeys()) {
    EXPECT_NE(text.find("\n| `" + key + "` |"), std::string::npos) << key;
  }
}

TEST(ParsePolicyTest, TheExamplesOfTheDocumentHold) {
  const std::string text = ReadFile("docs/site-policy.md");
  std::istringstream in(text.substr(text.find("## Five examples")));
  std::vector<std::string> examples;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const bool code = line.substr(0, 4) == "    ";
    if (code && !inside) examples.emplace_back();
    if (code) examples.back() += line.substr(4) + "\n";
    if (!line.empty()) inside = code;
  }
  EXPECT_EQ(examples.size(), 6U);
  for (const std::string& example : examples) EXPECT_EQ(Faults(example), "") << example;
}

}  // namespace
}  // namespace nccl_tune::site
