// SPDX-License-Identifier: Apache-2.0
#include "launcher/node_entry.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "launcher/test_entries.h"

namespace nccl_tune::launcher {
namespace {

TEST(NodeEntryTest, IsSmall) {
  const std::string text = EncodeEntry(MakeTestEntry(16'384));
  EXPECT_EQ(text, R"({"v":2,"n":"server16384","i":16383,"r":"131064-131071","a":"10.0.64.0","p":20000,)"
                  R"("net":"172.20.0.0/24","rail":true,"plan":true,"own":"hgti","k":"8xE400m9000g46r2",)"
                  R"("w":"172.20.0.0/24+1x8","l":"8u2o","set":{"IB_TC":"106"},"user":{"IB_TIMEOUT":"20"},)"
                  R"("nccl":"2.28.9","drv":"570.86.15","gpus":8,"gpu":"NVIDIA H200","us":"0.1.0"})");
  EXPECT_LT(text.size(), 360U);
}

TEST(NodeEntryTest, ComesBackAsItWent) {
  NodeEntry bare;
  bare.node = "a";
  bare.ranks = "0";
  NodeEntry other = MakeTestEntry(3);
  other.user_values["GLOO_SOCKET_IFNAME"] = "eth0";
  other.user_values["NCCL_and_others"] = "#01234567";
  other.changeable = {.gid = true};
  other.rails[3].gbps.reset();
  for (const auto& entry : {bare, MakeTestEntry(1), other}) {
    const std::string text = EncodeEntry(entry);
    const auto back = DecodeNodeEntry(text);
    ASSERT_TRUE(back.ok()) << text << " " << back.error().ToString();
    EXPECT_EQ(EncodeEntry(*back), text);
    EXPECT_EQ(back->rails, entry.rails);
    EXPECT_EQ(back->layout, entry.layout);
    EXPECT_EQ(back->user_values, entry.user_values);
    EXPECT_EQ(back->changeable, entry.changeable);
    EXPECT_EQ(back->gpus, entry.gpus);
  }
}

std::string Spoilt(const std::string& from, const std::string& to) {
  std::string text = EncodeEntry(MakeTestEntry(1));
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(NodeEntryTest, SaysWhichMemberIsWrong) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {Spoilt(R"("n":"server1")", R"("n":7)"), "n"},
      {Spoilt(R"("n":"server1")", R"("n":"")"), "n"},
      {Spoilt(R"("n":"server1",)", ""), "n"},
      {Spoilt(R"("i":0)", R"("i":-1)"), "i"},
      {Spoilt(R"("i":0)", R"("i":4294967296)"), "i"},
      {Spoilt(R"("i":0,)", ""), "i"},
      {Spoilt(R"("r":"0-7")", R"("r":"7-0")"), "r"},
      {Spoilt(R"("r":"0-7")", R"("r":"")"), "r"},
      {Spoilt(R"("r":"0-7",)", ""), "r"},
      {Spoilt(R"("a":"10.0.0.1")", R"("a":1)"), "a"},
      {Spoilt(R"("p":20000)", R"("p":70000)"), "p"},
      {Spoilt(R"("p":20000)", R"("p":"20000")"), "p"},
      {Spoilt(R"("net":"172.20.0.0/24")", R"("net":"172.20")"), "net"},
      {Spoilt(R"("rail":true)", R"("rail":1)"), "rail"},
      {Spoilt(R"("plan":true)", R"("plan":"yes")"), "plan"},
      {Spoilt(R"("own":"hgti")", R"("own":"x")"), "own"},
      {Spoilt(R"("own":"hgti")", R"("own":"hh")"), "own"},
      {Spoilt(R"("own":"hgti")", R"("own":[])"), "own"},
      {Spoilt("8xE400", "9xE400"), "k"},
      {Spoilt(R"("k":"8xE400m9000g46r2",)", ""), "k"},
      {Spoilt("+1x8", "+1x7"), "k"},
      {Spoilt("8u2o", "8u2z"), "l"},
      {Spoilt(R"({"IB_TC":"106"})", R"({"IB_TC":106})"), "set"},
      {Spoilt(R"({"IB_TC":"106"})", R"([])"), "set"},
      {Spoilt(R"({"IB_TIMEOUT":"20"})", R"("20")"), "user"},
      {Spoilt(R"("nccl":"2.28.9")", R"("nccl":2)"), "nccl"},
      {Spoilt(R"("drv":"570.86.15")", R"("drv":{})"), "drv"},
      {Spoilt(R"("gpus":8)", R"("gpus":8.5)"), "gpus"},
      {Spoilt(R"("gpu":"NVIDIA H200")", R"("gpu":true)"), "gpu"},
      {Spoilt(R"(,"us":"0.1.0")", ""), "us"},
  };
  for (const auto& [text, member] : rows) {
    const auto entry = DecodeNodeEntry(text);
    ASSERT_FALSE(entry.ok()) << text;
    EXPECT_EQ(entry.error().what, "an entry of nccl-launch whose \"" + member + "\" is wrong") << text;
    EXPECT_EQ(entry.error().hint, "Do all nodes have the same nccl-launch?");
  }
}

TEST(NodeEntryTest, RefusesOtherText) {
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[]"), std::string("7"), std::string("{\"v\":1}"),
        Spoilt("\"v\":2", "\"v\":3"), Spoilt("\"v\":2", "\"v\":\"2\""), EncodeEntry(MakeTestEntry(1)) + "x",
        std::string(kEntryLimit + 1, ' ')}) {
    const auto entry = DecodeNodeEntry(text);
    ASSERT_FALSE(entry.ok()) << text;
    EXPECT_EQ(entry.error().what, "not an entry of this version of nccl-launch") << text;
  }
  std::string many = "{";
  for (std::size_t i = 0; i < kMostVariables + 2; ++i) many += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
  EXPECT_FALSE(DecodeNodeEntry(Spoilt(R"({"IB_TIMEOUT":"20"})", many + "}")).ok());
}

}  // namespace
}  // namespace nccl_tune::launcher
