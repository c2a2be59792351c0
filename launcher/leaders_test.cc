// SPDX-License-Identifier: Apache-2.0
#include "launcher/leaders.h"

#include <gtest/gtest.h>

#include <thread>

#include "pmix/stand_in.h"

namespace nccl_tune::launcher {
namespace {

LeaderPoint Point(std::uint32_t node) {
  return {.node = node,
          .name = "n" + std::to_string(node),
          .address = "10.0.0.1",
          .port = 99,
          .socket_name = "s",
          .entry = "e"};
}

TEST(Leaders, PointComesBackAsItWas) {
  LeaderPoint point = Point(7);
  point.exec_error = 2;
  point.procs = 8;
  point.entry = "{\"a\": 1}\nmore";
  point.name = "a name with blanks";
  const auto back = DecodePoint(EncodePoint(point));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->node, 7U);
  EXPECT_EQ(back->name, "a name with blanks");
  EXPECT_EQ(back->address, "10.0.0.1");
  EXPECT_EQ(back->port, 99);
  EXPECT_EQ(back->socket_name, "s");
  EXPECT_EQ(back->exec_error, 2);
  EXPECT_EQ(back->procs, 8U);
  EXPECT_EQ(back->entry, "{\"a\": 1}\nmore");
  const auto empty = DecodePoint(EncodePoint({}));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->address, "");
  EXPECT_EQ(empty->socket_name, "");
}

TEST(Leaders, OtherTextIsNone) {
  for (const char* text : {"", "\n", "1 0 0 1 0 - - n", "2 0 0 1 0 - - n\n", "1 x 0 1 0 - - n\n", "1 -1 0 1 0 - - n\n",
                           "1 0 65536 1 0 - - n\n", "1 0 0 x 0 - - n\n", "1 0 0 1 -1 - - n\n", "1 0 0 1 0 -\n",
                           "1 0 0 1 0  - n\n", " 1 0 0 1 0 - - n\n", "{\"v\":1}\n"}) {
    const auto point = DecodePoint(text);
    ASSERT_FALSE(point.ok()) << text;
    EXPECT_NE(point.error().ToString().find("not an entry of this version of nccl-launch"), std::string::npos);
  }
}

// Ranks of a step whose node each rank is on; the first of each node leaves a point.
void ExpectAllFound(const std::vector<std::uint32_t>& node_of, const std::vector<std::uint32_t>& tasks) {
  const auto members = pmix::MakeStandIns(static_cast<std::uint32_t>(node_of.size()));
  std::vector<bool> seen(tasks.size());
  for (std::uint32_t rank = 0; rank < node_of.size(); ++rank) {
    if (seen[node_of[rank]]) continue;
    seen[node_of[rank]] = true;
    ASSERT_TRUE(members[rank]->Put(kLeaderKey, EncodePoint(Point(node_of[rank]))).ok());
  }
  std::vector<std::thread> ranks;
  for (const auto& member : members) {
    ranks.emplace_back([&] { ASSERT_TRUE(member->Fence(std::chrono::seconds(20), "meet").ok()); });
  }
  for (auto& rank : ranks) rank.join();
  Leaders leaders(*members[0], tasks);
  for (std::uint32_t node = 0; node < tasks.size(); ++node) {
    const auto point = leaders.Find(node);
    ASSERT_TRUE(point.ok()) << node;
    EXPECT_EQ(point->node, node);
    EXPECT_EQ(node_of[point->rank], node);
  }
}

TEST(Leaders, AreFoundHoweverTasksAreSpread) {
  ExpectAllFound({0, 0, 1, 1, 2, 2}, {2, 2, 2});     // block
  ExpectAllFound({0, 1, 2, 0, 1, 2}, {2, 2, 2});     // cyclic
  ExpectAllFound({0, 0, 1, 1, 0, 0, 1, 1}, {4, 4});  // plane
  ExpectAllFound({2, 1, 0, 0, 1, 2}, {2, 2, 2});     // arbitrary
  ExpectAllFound({0, 0, 0, 1, 2, 2}, {3, 1, 2});     // uneven
  ExpectAllFound({0}, {1});
}

TEST(Leaders, NodeWithoutAnEntryIsNamed) {
  const auto members = pmix::MakeStandIns(1);
  ASSERT_TRUE(members[0]->Fence(std::chrono::seconds(1), "meet").ok());
  Leaders leaders(*members[0], {1, 1});
  const auto point = leaders.Find(1);
  ASSERT_FALSE(point.ok());
  EXPECT_EQ(point.error().code, base::Code::kNotFound);
  EXPECT_NE(point.error().ToString().find("without an entry of node 1"), std::string::npos);
}

}  // namespace
}  // namespace nccl_tune::launcher
