// SPDX-License-Identifier: Apache-2.0
#include "launcher/links.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/sockets.h"

namespace nccl_tune::launcher {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong(5000);

// Advances all until `done` or the time is over; each one's events.
class World {
 public:
  std::vector<Links> all;
  std::vector<std::vector<LinkEvent>> events;

  explicit World(std::size_t count) : all(count), events(count) {}

  template <typename Done>
  bool Until(Done done, milliseconds limit = kLong) {
    const auto end = Clock::now() + limit;
    while (!done()) {
      if (Clock::now() > end) return false;
      for (std::size_t index = 0; index < all.size(); ++index) {
        std::vector<pollfd> polls;
        all[index].AppendPolls(&polls);
        poll(polls.data(), polls.size(), 1);
        for (auto& event : all[index].Advance(polls, Clock::now())) events[index].push_back(std::move(event));
      }
    }
    return true;
  }

  std::size_t Count(std::size_t index, LinkEvent::Kind kind) const {
    std::size_t count = 0;
    for (const auto& event : events[index]) count += event.kind == kind ? 1 : 0;
    return count;
  }
  const LinkEvent& Last(std::size_t index) const { return events[index].back(); }
};

// Node 0 listens; node 1 is its child.
World TwoNodes(const std::string& token_of_the_child, std::uint32_t expected_node = 0) {
  World world(2);
  EXPECT_TRUE(world.all[0].Listen().ok());
  world.all[0].Introduce(0, 0, "right");
  world.all[1].Introduce(1, 8, token_of_the_child, "digest");
  world.all[1].ConnectTo(Role::kTree, expected_node, "127.0.0.1", world.all[0].port(),
                         Clock::now() + milliseconds(300));
  return world;
}

TEST(Links, ChildAndParentKnowEachOther) {
  World world = TwoNodes("right");
  ASSERT_TRUE(world.Until(
      [&] { return world.Count(0, LinkEvent::Kind::kOpen) + world.Count(1, LinkEvent::Kind::kOpen) == 2; }));
  const LinkEvent& child = world.Last(0);
  EXPECT_TRUE(child.incoming);
  EXPECT_EQ(child.node, 1U);
  EXPECT_EQ(child.rank, 8U);
  EXPECT_EQ(child.message.digest, "digest");
  EXPECT_TRUE(world.all[1].HasParent());
  EXPECT_FALSE(world.all[0].HasParent());
  EXPECT_EQ(world.all[0].CountBelow(), 1U);

  EXPECT_TRUE(world.all[1].SendUp({.kind = Message::Kind::kDone}));
  world.all[0].SendDown({.kind = Message::Kind::kEnd, .status = 5});
  ASSERT_TRUE(world.Until(
      [&] { return world.Count(0, LinkEvent::Kind::kMessage) + world.Count(1, LinkEvent::Kind::kMessage) == 2; }));
  EXPECT_EQ(world.Last(0).message.kind, Message::Kind::kDone);
  EXPECT_EQ(world.Last(1).message.status, 5);
}

TEST(Links, OtherSideThatGoesAwayIsAnEvent) {
  World world = TwoNodes("right");
  ASSERT_TRUE(world.Until([&] { return world.Count(0, LinkEvent::Kind::kOpen) == 1; }));
  world.all[1] = Links();
  ASSERT_TRUE(world.Until([&] { return world.Count(0, LinkEvent::Kind::kGone) == 1; }));
  EXPECT_EQ(world.Last(0).node, 1U);
  EXPECT_EQ(world.all[0].CountBelow(), 0U);
}

TEST(Links, WrongTokenIsNotAnswered) {
  World world = TwoNodes("wrong");
  ASSERT_TRUE(world.Until([&] { return world.Count(1, LinkEvent::Kind::kFailed) == 1; }));
  EXPECT_EQ(world.Last(1).reason, "it closed the connection");
  EXPECT_TRUE(world.events[0].empty());
}

TEST(Links, AnotherNodeAtTheAddressIsNotTheOneWeLookFor) {
  World world = TwoNodes("right", 7);
  ASSERT_TRUE(world.Until([&] { return world.Count(1, LinkEvent::Kind::kFailed) == 1; }));
  EXPECT_FALSE(world.all[1].HasParent());
}

TEST(Links, RefusedNamesTheAddress) {
  World world(1);
  std::uint16_t port = 0;
  const auto listener = ListenTcp(&port);
  ASSERT_TRUE(listener.ok());
  close(*listener);
  world.all[0].Introduce(1, 1, "t");
  world.all[0].ConnectTo(Role::kRing, 2, "127.0.0.1", port, Clock::now() + kLong);
  ASSERT_TRUE(world.Until([&] { return !world.events[0].empty(); }));
  EXPECT_EQ(world.Last(0).kind, LinkEvent::Kind::kFailed);
  EXPECT_NE(world.Last(0).reason.find("Connection refused"), std::string::npos);
  EXPECT_EQ(world.Last(0).address, "127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(world.Last(0).role, Role::kRing);
}

TEST(Links, WhoListensButDoesNotAnswerIsGivenUpAtTheDeadline) {
  World world(1);
  std::uint16_t port = 0;
  const auto listener = ListenTcp(&port);
  ASSERT_TRUE(listener.ok());
  world.all[0].Introduce(1, 1, "t");
  world.all[0].ConnectTo(Role::kTree, 0, "127.0.0.1", port, Clock::now() + milliseconds(50));
  ASSERT_TRUE(world.all[0].NextDeadline().has_value());
  ASSERT_TRUE(world.Until([&] { return !world.events[0].empty(); }));
  EXPECT_EQ(world.Last(0).reason, "connected, but no nccl-launch of this step answers");
  close(*listener);
}

TEST(Links, AddressThatIsNoneIsAnEventToo) {
  World world(1);
  world.all[0].Introduce(1, 1, "t");
  world.all[0].ConnectTo(Role::kTree, 0, "server1", 1, Clock::now() + kLong);
  ASSERT_TRUE(world.Until([&] { return !world.events[0].empty(); }));
  EXPECT_NE(world.Last(0).reason.find("not an IP address"), std::string::npos);
}

TEST(Links, LocalTasksMeetOverAUnixSocket) {
  World world(2);
  ASSERT_TRUE(world.all[0].Listen().ok());
  world.all[0].Introduce(0, 0, "t");
  world.all[1].Introduce(0, 1, "t");
  world.all[1].ConnectLocal(world.all[0].socket_name(), 0, Clock::now() + kLong);
  ASSERT_TRUE(world.Until([&] { return world.all[0].CountBelow() == 1 && world.all[1].HasParent(); }));
  EXPECT_EQ(world.Last(0).role, Role::kLocal);
  EXPECT_EQ(world.Last(0).rank, 1U);
}

TEST(Links, RingIsNeitherParentNorBelow) {
  World world(2);
  ASSERT_TRUE(world.all[0].Listen().ok());
  world.all[0].Introduce(0, 0, "t");
  world.all[1].Introduce(1, 1, "t");
  world.all[1].ConnectTo(Role::kRing, 0, "127.0.0.1", world.all[0].port(), Clock::now() + kLong);
  ASSERT_TRUE(world.Until(
      [&] { return world.Count(0, LinkEvent::Kind::kOpen) + world.Count(1, LinkEvent::Kind::kOpen) == 2; }));
  EXPECT_FALSE(world.all[1].HasParent());
  EXPECT_EQ(world.all[0].CountBelow(), 0U);
  EXPECT_FALSE(world.all[1].SendUp({.kind = Message::Kind::kDone}));
  world.all[0].CloseRing();
  EXPECT_FALSE(world.Until([&] { return world.Count(0, LinkEvent::Kind::kGone) > 0; }, milliseconds(30)));
}

TEST(Links, StrangersWhoTalkNonsenseAreClosedUnread) {
  for (const std::string text : {"GET / HTTP/1.1\r\n\r\n", "{}\n", "\n",
                                 R"({"t":"hello"})"
                                 "\n",
                                 R"({"t":"end","status":9})"
                                 "\n"}) {
    World world(1);
    ASSERT_TRUE(world.all[0].Listen().ok());
    world.all[0].Introduce(0, 0, "t");
    const auto stranger = StartTcp("127.0.0.1", world.all[0].port());
    ASSERT_TRUE(stranger.ok());
    Channel channel(*stranger);
    world.Until([] { return false; }, milliseconds(10));
    ASSERT_EQ(send(channel.descriptor(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    std::vector<std::string> lines;
    EXPECT_TRUE(world.Until([&] { return !channel.Read(&lines); })) << text;
    EXPECT_TRUE(lines.empty());
    EXPECT_TRUE(world.events[0].empty());
  }
}

TEST(Links, OpenPeerThatTalksNonsenseIsGone) {
  World world(1);
  ASSERT_TRUE(world.all[0].Listen().ok());
  world.all[0].Introduce(0, 0, "t");
  const auto stranger = StartTcp("127.0.0.1", world.all[0].port());
  ASSERT_TRUE(stranger.ok());
  Channel channel(*stranger);
  world.Until([] { return false; }, milliseconds(10));
  ASSERT_TRUE(channel.Send(EncodeMessage({.kind = Message::Kind::kHello, .node = 1, .rank = 1, .token = "t"})));
  ASSERT_TRUE(channel.Send("nonsense"));
  ASSERT_TRUE(world.Until([&] { return world.Count(0, LinkEvent::Kind::kGone) == 1; }));
}

TEST(Links, TokensDiffer) {
  EXPECT_EQ(RandomToken().size(), 32U);
  EXPECT_NE(RandomToken(), RandomToken());
}

}  // namespace
}  // namespace nccl_tune::launcher
