// SPDX-License-Identifier: Apache-2.0
#include "site/read_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "base/result.h"
#include "core/facts/ip_address.h"
#include "core/policy/site_policy.h"
#include "site/document.h"
#include "site/section.h"

namespace nccl_tune::site {
namespace {

template <typename Out>
std::string Read(void (*read)(const Entry&, Out*, Problems*), const std::string& text, Out* out,
                 std::string* notes = nullptr) {
  const auto document = ParseDocument("k = " + text, "f");
  if (!document.ok()) return document.error().ToString();
  Problems problems("f");
  const Entry root{.value = &*document, .key = "", .line = 1};
  read(root.Under(document->members[0]), out, &problems);
  std::string all;
  for (const auto& error : problems.errors()) all += (all.empty() ? "" : "\n") + error.ToString();
  for (const auto& note : problems.notes()) {
    if (notes != nullptr) *notes += note.where + ": " + note.what;
  }
  return all;
}

TEST(ReadRulesTest, Devices) {
  policy::SitePolicy out;
  EXPECT_EQ(Read(&ReadDevices,
                 "{ include = [\"mlx5_*\", { pci = \"0000:1a\", driver = \"irdma\", min_rate = 100, "
                 "subnet = \"10.0.0.0/8\" }], exclude = [{ name = \"mlx5_9:2\", rate = 12.5 }] }",
                 &out),
            "");
  ASSERT_EQ(out.include_devices->size(), 2U);
  EXPECT_EQ(out.include_devices->front().name, "mlx5_*");
  const policy::DeviceMatcher& table = out.include_devices->back();
  EXPECT_EQ(table.pci->bus, 0x1a);
  EXPECT_FALSE(table.pci->device);
  EXPECT_EQ(table.driver, "irdma");
  EXPECT_EQ(table.min_rate->value, 100);
  EXPECT_EQ(table.subnet->ToString(), "10.0.0.0/8");
  EXPECT_EQ(table.origin.ToString(), "site policy, line 1: k.include[2]");
  EXPECT_EQ(out.exclude_devices->front().rate->value, 12.5);
  EXPECT_EQ(Read(&ReadDevices, "{ include = [], exclude = [] }", &out), "");
  EXPECT_TRUE(out.include_devices->empty());
}

TEST(ReadRulesTest, BadDevices) {
  constexpr const char* kKeys = "name, pci, driver, rate, min_rate, subnet";
  constexpr const char* kPci = "expected a form such as 0000:1a:00.1, 0000:1a:00 or 0000:1a";
  constexpr const char* kNet = "expected one network such as 10.0.0.0/8 or fd00::/8";
  constexpr const char* kRate = "expected Gbit/s, above 0 and at most 100000";
  const struct {
    const char* text;
    std::string message;
  } kRows[] = {
      {"[]", "f:1: k: wrong type: got \"a list\", expected a table"},
      {"{ exclud = [] }", "f:1: k: unknown key: got \"exclud\", expected include, exclude. Did you mean exclude?"},
      {"{ exclude = \"mlx5_0\" }", "f:1: k.exclude: wrong type: got \"mlx5_0\", expected a list in brackets"},
      {"{ exclude = [1] }",
       "f:1: k.exclude[1]: wrong type: got \"1\", expected a name in quotes, or a table such as { name = \"..\" }"},
      {"{ exclude = [[\"a\"]] }",
       "f:1: k.exclude[1]: wrong type: got \"a list\", expected a name in quotes, or a table such as { name = \"..\" "
       "}"},
      {"{ exclude = [{}] }", "f:1: k.exclude[1]: an entry that says nothing: got \"{}\", expected at least one key"},
      {"{ exclude = [\"mlx5_[0-3]\"] }",
       "f:1: k.exclude[1]: brackets are no part of a name pattern: got \"mlx5_[0-3]\", expected letters, digits, * for "
       "any text, ? for a character"},
      {"{ exclude = [{ name = \"\" }] }",
       "f:1: k.exclude[1].name: empty name: got \"\", expected a name; * is any text, ? any character"},
      {"{ exclude = [{ nmae = \"a\" }] }",
       std::string("f:1: k.exclude[1]: unknown key: got \"nmae\", expected ") + kKeys + ". Did you mean name?"},
      {"{ exclude = [{ min-rate = 1 }] }",
       std::string("f:1: k.exclude[1]: unknown key: got \"min-rate\", expected ") + kKeys + ". Did you mean min_rate?"},
      {"{ exclude = [{ pci = \"1a:00.1\" }] }",
       std::string("f:1: k.exclude[1].pci: not a PCI address or the beginning of one: got \"1a:00.1\", ") + kPci},
      {"{ exclude = [{ pci = \"0000:1a:\" }] }",
       std::string("f:1: k.exclude[1].pci: not a PCI address or the beginning of one: got \"0000:1a:\", ") + kPci},
      {"{ exclude = [{ pci = \"0000:1\" }] }",
       std::string("f:1: k.exclude[1].pci: not a PCI address or the beginning of one: got \"0000:1\", ") + kPci},
      {"{ exclude = [{ pci = \"0000:1a:20\" }] }",
       std::string("f:1: k.exclude[1].pci: not a PCI address or the beginning of one: got \"0000:1a:20\", ") + kPci},
      {"{ exclude = [{ pci = \"\" }] }",
       std::string("f:1: k.exclude[1].pci: not a PCI address or the beginning of one: got \"\", ") + kPci},
      {"{ exclude = [{ pci = \"0000:*\" }] }",
       std::string("f:1: k.exclude[1].pci: not a PCI address or the beginning of one: got \"0000:*\", ") + kPci},
      {"{ exclude = [{ driver = \"mlx5*\" }] }",
       "f:1: k.exclude[1].driver: not the name of a driver: got \"mlx5*\", expected one exact name such as mlx5_core"},
      {"{ exclude = [{ driver = \"\" }] }",
       "f:1: k.exclude[1].driver: not the name of a driver: got \"\", expected one exact name such as mlx5_core"},
      {"{ exclude = [{ rate = \"25\" }] }",
       "f:1: k.exclude[1].rate: wrong type: got \"25\", expected a number without quotes"},
      {"{ exclude = [{ rate = 0 }] }", std::string("f:1: k.exclude[1].rate: number out of range: got \"0\", ") + kRate},
      {"{ exclude = [{ rate = -1 }] }",
       std::string("f:1: k.exclude[1].rate: number out of range: got \"-1\", ") + kRate},
      {"{ exclude = [{ min_rate = inf }] }",
       std::string("f:1: k.exclude[1].min_rate: number out of range: got \"inf\", ") + kRate},
      {"{ exclude = [{ min_rate = nan }] }",
       std::string("f:1: k.exclude[1].min_rate: number out of range: got \"nan\", ") + kRate},
      {"{ exclude = [{ rate = 25000000000 }] }",
       std::string("f:1: k.exclude[1].rate: number out of range: got \"25000000000\", ") + kRate},
      {"{ exclude = [{ rate = 25, min_rate = 10 }] }",
       "f:1: k.exclude[1]: rate and min_rate together: got \"both\", expected one of them"},
      {"{ exclude = [{ subnet = \"10.0.0.1\" }] }",
       std::string("f:1: k.exclude[1].subnet: not a network: got \"10.0.0.1\", ") + kNet},
      {"{ exclude = [{ subnet = \"10.0.0.0/\" }] }",
       std::string("f:1: k.exclude[1].subnet: not a network: got \"10.0.0.0/\", ") + kNet},
      {"{ exclude = [{ subnet = \"10.0.0/24\" }] }",
       std::string("f:1: k.exclude[1].subnet: not a network: got \"10.0.0/24\", ") + kNet},
      {"{ exclude = [{ subnet = \"10.0.0.0/8,11.0.0.0/8\" }] }",
       std::string("f:1: k.exclude[1].subnet: not a network: got \"10.0.0.0/8,11.0.0.0/8\", ") + kNet},
      {"{ exclude = [{ subnet = \"10.0.0.0/33\" }] }",
       "f:1: k.exclude[1].subnet: prefix length out of range: got \"10.0.0.0/33\", expected 0 to 32"},
      {"{ exclude = [{ subnet = \"fd00::/129\" }] }",
       "f:1: k.exclude[1].subnet: prefix length out of range: got \"fd00::/129\", expected 0 to 128"},
      {"{ exclude = [{ subnet = \"10.0.0.7/24\" }] }",
       "f:1: k.exclude[1].subnet: an address of a host, not a network: got \"10.0.0.7/24\", expected 10.0.0.0/24"},
  };
  for (const auto& row : kRows) {
    policy::SitePolicy out;
    EXPECT_EQ(Read(&ReadDevices, row.text, &out), row.message);
  }
}

TEST(ReadRulesTest, Interfaces) {
  policy::SitePolicy out;
  EXPECT_EQ(Read(&ReadInterfaces, "{ include = [\"eno?\"], exclude = [{ subnet = \"fd00::/8\" }] }", &out), "");
  EXPECT_EQ(out.include_interfaces->front().name, "eno?");
  EXPECT_EQ(out.exclude_interfaces->front().subnet->ToString(), "fd00::/8");
  EXPECT_EQ(Read(&ReadInterfaces, "{ exclude = [{ pci = \"0000\" }] }", &out),
            "f:1: k.exclude[1]: unknown key: got \"pci\", expected name, subnet");
  EXPECT_EQ(Read(&ReadInterfaces, "{ exclude = [\"^docker0\"] }", &out),
            "f:1: k.exclude[1]: names are exact here, without NCCL's signs: got \"^docker0\", expected docker0");
}

TEST(ReadRulesTest, Bootstrap) {
  policy::SitePolicy out;
  EXPECT_EQ(Read(&ReadBootstrap, "\"ens12f1.40\"", &out), "");
  EXPECT_EQ(std::get<std::string>(out.bootstrap->value), "ens12f1.40");
  EXPECT_EQ(Read(&ReadBootstrap, "\"10.1.0.0/16\"", &out), "");
  EXPECT_EQ(std::get<facts::IpPrefix>(out.bootstrap->value).ToString(), "10.1.0.0/16");
  const std::string expected = "\", expected one exact name of at most 15 characters, or a network such as 10.0.0.0/8";
  for (const char* bad :
       {"", "eth*", "eth?", "=eth0", "eth0,eth1", "a b", "eth0:1", "sixteen-letters-", "eth0;reboot"}) {
    EXPECT_EQ(Read(&ReadBootstrap, "\"" + std::string(bad) + "\"", &out),
              "f:1: k: not the name of an interface: got \"" + std::string(bad) + expected);
  }
  EXPECT_EQ(Read(&ReadBootstrap, "[\"eth0\"]", &out), "f:1: k: wrong type: got \"a list\", expected a text in quotes");
  EXPECT_EQ(Read(&ReadBootstrap, "\"10.0.0.5/8\"", &out),
            "f:1: k: an address of a host, not a network: got \"10.0.0.5/8\", expected 10.0.0.0/8");
}

TEST(ReadRulesTest, WhatCanHoldNowhere) {
  policy::SitePolicy out;
  EXPECT_EQ(Read(&ReadBootstrap, "\"10.0.0.5\"", &out),
            "f:1: k: an address, not an interface: got \"10.0.0.5\", expected the interface's name, or the network of "
            "its address: 10.0.0.0/24");
  EXPECT_EQ(
      Read(&ReadBootstrap, "\"fd00::1\"", &out),
      "f:1: k: an address, not an interface: got \"fd00::1\", expected the interface's name, or the network of its "
      "address: fd00::/64");
  EXPECT_EQ(Read(&ReadDevices, "{ include = [\"mlx5_0:0\"] }", &out),
            "f:1: k.include[1]: no such port: got \"mlx5_0:0\", expected NAME:PORT, whose ports begin with 1");
}

TEST(ReadRulesTest, NotesOnWhatIsHardlyMeant) {
  const struct {
    const char* driver;
    const char* note;
  } kDrivers[] = {
      {"mlx5_core", ""},
      {"irdma", ""},
      {"mlx5", "f:1: k.include[1].driver: no driver of a PCI function; Did you mean mlx5_core?"},
      {"bnxt_re", "f:1: k.include[1].driver: no driver of a PCI function; Did you mean bnxt_en?"},
  };
  for (const auto& row : kDrivers) {
    policy::SitePolicy out;
    std::string notes;
    EXPECT_EQ(Read(&ReadDevices, "{ include = [{ driver = \"" + std::string(row.driver) + "\" }] }", &out, &notes), "");
    EXPECT_EQ(notes, row.note) << row.driver;
  }
  const struct {
    const char* nodes;
    const char* note;
  } kNodes[] = {
      {"node[01-16]", ""},
      {"node-1", ""},
      {"gpu-node", ""},
      {"rack1-node2", ""},
      {"node01-16", "f:1: k: one node of this name. A range has brackets: node[01-16]"},
      {"a1-2,b[1-2]", ""},
  };
  for (const auto& row : kNodes) {
    policy::SiteCondition out;
    std::string notes;
    EXPECT_EQ(Read(&ReadNodes, "\"" + std::string(row.nodes) + "\"", &out, &notes), "");
    EXPECT_EQ(notes, row.note) << row.nodes;
  }
}

TEST(ReadRulesTest, Conditions) {
  policy::SiteCondition out;
  EXPECT_EQ(Read(&ReadPartition, "[\"gpu\", \"debug\"]", &out), "");
  EXPECT_EQ(Read(&ReadFeature, "\"h100\"", &out), "");
  EXPECT_EQ(Read(&ReadNodes, "\"node[01-16,20]\"", &out), "");
  EXPECT_EQ(out.partitions.size(), 2U);
  EXPECT_EQ(out.features.size(), 1U);
  EXPECT_TRUE(out.nodes->Contains("node20"));
  constexpr const char* kSeveral = "expected one exact name; several are a list: [\"a\", \"b\"]";
  const struct {
    void (*read)(const Entry&, policy::SiteCondition*, Problems*);
    const char* text;
    std::string message;
  } kRows[] = {
      {&ReadPartition, "\"\"", std::string("f:1: k: not the name of a partition: got \"\", ") + kSeveral},
      {&ReadPartition, "\"a,b\"", std::string("f:1: k: not the name of a partition: got \"a,b\", ") + kSeveral},
      {&ReadPartition, "[\"a\", \"g*\"]",
       std::string("f:1: k[2]: not the name of a partition: got \"g*\", ") + kSeveral},
      {&ReadPartition, "[]", "f:1: k: empty list: got \"[]\", expected at least one partition"},
      {&ReadPartition, "7", "f:1: k: wrong type: got \"7\", expected a text in quotes, or a list of texts"},
      {&ReadFeature, "\"a&b\"", std::string("f:1: k: not the name of a feature: got \"a&b\", ") + kSeveral},
      {&ReadFeature, "\"a b\"", std::string("f:1: k: not the name of a feature: got \"a b\", ") + kSeveral},
      {&ReadFeature, "[]", "f:1: k: empty list: got \"[]\", expected at least one feature"},
      {&ReadFeature, "[true]", "f:1: k[1]: wrong type: got \"a boolean\", expected a text in quotes"},
      {&ReadNodes, "\"\"", "f:1: k: empty host name: got \"\", expected a form such as node[01-16,20]"},
      {&ReadNodes, "\"node[9-1]\"",
       "f:1: k: range from the larger to the smaller: got \"9-1\", expected the smaller number first"},
      {&ReadNodes, "[\"node1\"]", "f:1: k: wrong type: got \"a list\", expected a text in quotes"},
  };
  for (const auto& row : kRows) EXPECT_EQ(Read(row.read, row.text, &out), row.message);
}

}  // namespace
}  // namespace nccl_tune::site
