// SPDX-License-Identifier: Apache-2.0
//
// The launcher's entry of every machine is small and comes back as it went, and three nodes of one cluster with other
// names for the same cards agree.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/env/plan.h"
#include "hw/capture_tree.h"
#include "hw/ip_facts.h"
#include "launcher/preflight.h"
#include "launcher/read_entry.h"
#include "tests/hosts/replay.h"

namespace nccl_tune::hosts {
namespace {

constexpr const char* kFolder = "tests/hosts";

// As the first task of a node that is tuned.
launcher::NodeEntry EntryOf(const std::string& name, std::uint32_t node_id) {
  const auto replay = ReplayCapture(kFolder, name);
  auto text = ReadWhole(std::string(kFolder) + "/" + name + ".capture");
  EXPECT_TRUE(replay.ok() && text.ok()) << name;
  if (!replay.ok() || !text.ok()) return {};
  auto environment = env::ValuesOf(replay->plan);
  environment["NCCL_TUNE_PLAN"] = env::PlanToJson(replay->plan).value_or("");
  environment["SLURM_GTIDS"] = "0,1,2,3,4,5,6,7";
  auto capture = hw::ParseCapture(*text, name);
  EXPECT_TRUE(capture.ok()) << name;
  const hw::CaptureTree tree(std::move(capture).value_or(hw::Capture{}));
  std::vector<facts::Note> notes;
  const auto ip = hw::ReadIpFiles(tree, &notes);
  auto own = launcher::ReadOwnNode(tree, ip, {.node_id = node_id, .node = name}, environment);
  own.entry.address = "172.16.100.200";
  own.entry.port = 26'947;
  return std::move(own.entry);
}

TEST(EntriesTest, AreSmallAndComeBack) {
  const auto names = ListCaptures(kFolder);
  ASSERT_TRUE(names.ok());
  ASSERT_FALSE(names->empty());
  std::size_t largest = 0;
  for (const auto& name : *names) {
    const auto entry = EntryOf(name, 0);
    const std::string text = launcher::EncodeEntry(entry);
    largest = std::max(largest, text.size());
    EXPECT_LT(text.size(), 500U) << text;
    const auto back = launcher::DecodeNodeEntry(text);
    ASSERT_TRUE(back.ok()) << name << ": " << back.error().ToString();
    EXPECT_EQ(launcher::EncodeEntry(*back), text);
    EXPECT_EQ(back->rails, entry.rails) << name;
    EXPECT_TRUE(entry.planned) << name;
    EXPECT_EQ(entry.changeable.rails, !entry.rails.empty()) << name;
    EXPECT_TRUE(launcher::Judge({entry, entry}, {}, launcher::Preflight::kFail).lines.empty()) << name;
  }
  RecordProperty("largest_entry", static_cast<int>(largest));
}

TEST(EntriesTest, OneClusterAgrees) {
  const auto verdict = launcher::Judge({EntryOf("server1", 0), EntryOf("server2", 1), EntryOf("server3", 2)}, {},
                                       launcher::Preflight::kFail, launcher::Severity::kNote);
  for (const auto& line : verdict.lines) ADD_FAILURE() << line;
  EXPECT_EQ(verdict.agreement, launcher::Agreement{});
}

TEST(EntriesTest, AnOddMachineIsNamed) {
  const auto verdict =
      launcher::Judge({EntryOf("server1", 0), EntryOf("server2", 1), EntryOf("h100-four-of-nine-ib-cabled", 2)}, {},
                      launcher::Preflight::kFail);
  EXPECT_TRUE(verdict.agreement.stop);
  std::string all;
  for (const auto& line : verdict.lines) all += line + "\n";
  EXPECT_NE(all.find("link layer         Ethernet       InfiniBand   h100-four-of-nine-ib-cabled"), std::string::npos)
      << all;
}

}  // namespace
}  // namespace nccl_tune::hosts
