// SPDX-License-Identifier: Apache-2.0
#include "bench/rails.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/same_start.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

constexpr const char* kPlan =
    R"({"v":1,"node":"n","set":{},"ports":[{"hca":"mlx5_7","port":1,"link":"Ethernet","gbps":25,"netdev":"e1","gid":3},)"
    R"({"hca":"mlx5_3","port":1,"link":"Ethernet","gbps":100}]})";

facts::Node Node() {
  facts::Node node;
  facts::IbPort port;
  port.number = 1;
  port.netdev = "e3";
  port.rate = facts::GbitPerSecond{100};
  facts::Hca& hca = node.hcas.emplace_back();
  hca.name = "mlx5_3";
  hca.ports.push_back(port);
  return node;
}

TEST(RailsTest, ThoseOfThePlanComeFirst) {
  Wire wire;
  wire.links = {{.name = "mlx5_3", .port = 1}, {.name = "eth7"}};
  const auto planned = FindRails({{"NCCL_TUNE_PLAN", kPlan}}, Node(), wire);
  ASSERT_EQ(planned.size(), 2U);
  EXPECT_EQ(planned[0].link.ToString(), "mlx5_7:1");
  EXPECT_EQ(planned[0].netdev, "e1");
  EXPECT_EQ(planned[0].gid, 3);
  EXPECT_EQ(planned[1].netdev, "e3") << "looked up in the node";
  EXPECT_EQ(planned[1].gbps, 100);
  for (const char* plan : {"", "{", R"({"v":1,"node":"n","set":{},"ports":[]})"}) {
    const auto found = FindRails({{"NCCL_TUNE_PLAN", plan}}, Node(), wire);
    ASSERT_EQ(found.size(), 2U) << plan;
    EXPECT_EQ(found[0].netdev, "e3");
    EXPECT_EQ(found[0].gbps, 100);
    EXPECT_EQ(found[1].netdev, "eth7");
    EXPECT_FALSE(found[1].gbps.has_value());
  }
  EXPECT_THAT(FindRails({}, {}, {}), IsEmpty());
}

TEST(RailsTest, SettingsLeaveOneRail) {
  const Rail port{.link = {.name = "mlx5_7", .port = 2}, .netdev = "e1", .gid = 5};
  const Rail interface { .link = {.name = "eth7"}, .netdev = "eth7" };
  const Rail bare{.link = {.name = "mlx5_7", .port = 2}};
  const auto text = [](const Rail& rail, BackendKind backend, const Environment& environment) {
    std::string out;
    const auto settings = SettingsFor(rail, backend, environment);
    if (!settings.ok()) return settings.error().ToString();
    for (const auto& [name, value] : *settings) out += name + "=" + value + " ";
    return out;
  };
  EXPECT_EQ(text(port, BackendKind::kNccl, {}), "NCCL_IB_HCA==mlx5_7:2 ");
  EXPECT_EQ(text(port, BackendKind::kNccl, {{"NCCL_IB_GID_INDEX", "3"}}), "NCCL_IB_HCA==mlx5_7:2 NCCL_IB_GID_INDEX=5 ");
  EXPECT_EQ(text(bare, BackendKind::kNccl, {{"NCCL_IB_GID_INDEX", "3"}}), "NCCL_IB_HCA==mlx5_7:2 ");
  EXPECT_EQ(text(interface, BackendKind::kNccl, {}), "NCCL_SOCKET_IFNAME==eth7 ");
  EXPECT_EQ(text(port, BackendKind::kMpi, {}), "OMPI_MCA_btl_tcp_if_include=e1 OMPI_MCA_btl_tcp_if_exclude= ");
  EXPECT_EQ(text(port, BackendKind::kMpi, {{"OMPI_MCA_pml", "ucx"}}),
            "UCX_NET_DEVICES=mlx5_7:2 OMPI_MCA_btl_tcp_if_include=e1 OMPI_MCA_btl_tcp_if_exclude= ");
  EXPECT_EQ(text(bare, BackendKind::kMpi, {{"OMPI_MCA_pml", "ucx"}}), "UCX_NET_DEVICES=mlx5_7:2 ");
  EXPECT_THAT(text(bare, BackendKind::kMpi, {}), HasSubstr("mlx5_7:2: its interface is not known"));
}

TEST(RailsTest, AllNodesNeedAsMany) {
  EXPECT_EQ(RailsToText("n1", {{.link = {.name = "mlx5_7", .port = 1}}, {.link = {.name = "e7"}}}),
            "rails: n1 mlx5_7:1 e7");
  EXPECT_EQ(CommonCount({"rails: n1 a b", "rails: n1 a b", "rails: n2 c d"}).value_or(0), 2U);
  const std::vector<std::pair<Texts, std::string>> bad = {
      {{}, "no rail was found"},
      {{"rails: n1", "rails: n2"}, "no rail was found: got \"n1 none\""},
      {{"rails: n1 a b", "rails: n2 a", "rails: n3 a"}, "not the same number of rails: got \"n2 a; n1 a b\""},
      {{"rails: n1 a", "rails: n2"}, "not the same number of rails: got \"n2 none; n1 a\""},
      {{"rails: n1 a", "rails: n2 a", RefusalToText({.what = "cannot be made", .where = "/x/a"})},
       "/x/a: cannot be made"},
      {{RefusalToText({.what = "first"}), RefusalToText({.what = "second"}), "rails: n1"}, "first"},
      // A process that measures a table, or another version.
      {{"rails: n1 a", StartToText({.ranks = 2, .digest = "7", .host = "n2"})},
       "process 1 was started with other flags"},
      {{"rails: n1 a", ""}, "process 1 was started with other flags"},
      {{"n1 a", "rails: n2 a"}, "process 0 was started with other flags"},
  };
  for (const auto& [texts, error] : bad) {
    const auto count = CommonCount(texts);
    ASSERT_FALSE(count.ok()) << error;
    EXPECT_EQ(count.error().code, base::Code::kInvalidInput);
    EXPECT_THAT(count.error().ToString(), HasSubstr(error));
  }
}

TEST(RailsTest, BytesThatLeaveByAnotherRailGoAstray) {
  EXPECT_FALSE(IsAstray({0, 0}, {1'000'000, 900}, 0));
  EXPECT_TRUE(IsAstray({0, 0}, {1'000'000, 900}, 1));
  EXPECT_TRUE(IsAstray({5, 5}, {500'005, 499'000}, 1));
  EXPECT_FALSE(IsAstray({0, 0}, {900, 0}, 1)) << "what others send";
  EXPECT_FALSE(IsAstray({0, std::nullopt}, {1'000'000, 0}, 1)) << "not known";
  EXPECT_FALSE(IsAstray({7, 7}, {5, 1'000'000}, 0)) << "counted from 0 again";
  EXPECT_FALSE(IsAstray({}, {}, 0));
}

TEST(RailsTest, SlowIsByTheRateWhereAllAreKnown) {
  EXPECT_THAT(SlowRails({{.busbw = 3}, {.busbw = 0.7}}, 0.8), ElementsAre(false, true));
  EXPECT_THAT(SlowRails({{.busbw = 3, .gbps = 25}, {.busbw = 12, .gbps = 100}}, 0.8), ElementsAre(false, false));
  EXPECT_THAT(SlowRails({{.busbw = 3, .gbps = 25}, {.busbw = 3, .gbps = 100}}, 0.8), ElementsAre(false, true));
  EXPECT_THAT(SlowRails({{.busbw = 3}, {.busbw = 12, .gbps = 100}}, 0.8), ElementsAre(true, false));
  EXPECT_THAT(SlowRails({{.busbw = 0}}, 0.8), ElementsAre(false));
  EXPECT_THAT(SlowRails({{.busbw = 0}, {.busbw = 0}}, 0.8), ElementsAre(false, false));
  EXPECT_THAT(SlowRails({}, 0.8), IsEmpty());
}

TEST(RailsTest, ALineForEachRail) {
  const std::vector<RailResult> results = {{.name = "mlx5_7:1", .busbw = 2.9, .gbps = 25, .times = 1},
                                           {.name = "mlx5_2:1", .busbw = 0.5, .gbps = 25, .times = 4}};
  EXPECT_EQ(RailText(results, 0.8, "all_reduce"),
            "#\n"
            "# each rail alone, by all_reduce: best busbw, and what its line rate can carry, in GB/s; how often it was "
            "measured\n"
            "#        rail     busbw    wire  times\n"
            "# 0  mlx5_7:1     2.900     3.0      1\n"
            "# 1  mlx5_2:1     0.500     3.0      4  slow\n"
            "#\n"
            "# slow rail: 1 mlx5_2:1: 0.500 GB/s, the best of 4 measurements, under 80 % of the others for its rate\n"
            "#   next: its cable and switch port, PFC, PCIe width of its card: nccl-tune explain\n"
            "#\n"
            "# Rails concluded: 1 of 2 slow\n");
  EXPECT_THAT(RailText({{.name = "e1", .busbw = 1}}, 0.8, "sendrecv"),
              HasSubstr("# one rail: nothing to compare with\n"));
  EXPECT_THAT(RailText({{.busbw = 1}, {.busbw = 1}}, 0.8, "x"), HasSubstr("# all rails are alike\n"));
}

TEST(RailsTest, ReadsARunsOutput) {
  const std::string header =
      "# nccl-tests version 2.19.6\n#\n# Using devices\n#  Rank  0 Group  0 ...\n#  Rank  1 Group  0 ...\n";
  const std::string table = header + "#\n#       size\n       64  16\n# Out of bounds\n\n";
  EXPECT_EQ(HeaderOf(table), header);
  EXPECT_EQ(HeaderOf(""), "");
  for (const bool lost : {false, true}) {
    EXPECT_EQ(BestOf(table + BestText(0.125, lost)), 0.125);
    EXPECT_EQ(HasLostFile(table + BestText(0.125, lost)), lost);
  }
  for (const char* text : {"", "# best of this rail: ", "# best of this rail: x\n", "# best of this rail: 1 2\n"}) {
    EXPECT_FALSE(BestOf(text).has_value()) << text;
    EXPECT_FALSE(HasLostFile(text)) << text;
  }
}

}  // namespace
}  // namespace nccl_tune::bench
