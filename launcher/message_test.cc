// SPDX-License-Identifier: Apache-2.0
#include "launcher/message.h"

#include <gtest/gtest.h>

#include "launcher/channel.h"

namespace nccl_tune::launcher {
namespace {

TEST(Message, HelloComesBackAsItWas) {
  const auto back = DecodeMessage(EncodeMessage(
      {.kind = Message::Kind::kHello, .role = Role::kLocal, .node = 7, .rank = 63, .token = "t0", .digest = "d"}));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->kind, Message::Kind::kHello);
  EXPECT_EQ(back->role, Role::kLocal);
  EXPECT_EQ(back->node, 7U);
  EXPECT_EQ(back->rank, 63U);
  EXPECT_EQ(back->token, "t0");
  EXPECT_EQ(back->digest, "d");
}

TEST(Message, FailureComesBackAsItWas) {
  Message message{.kind = Message::Kind::kFailed};
  message.end = RankEnd{.rank = 3,
                        .local_rank = 1,
                        .node = "server2",
                        .pid = 4711,
                        .signal = 11,
                        .core = true,
                        .seconds = 12.5,
                        .last_lines = {"a \xff b", "c"},
                        .nccl_last = "NCCL WARN x",
                        .oom_killed = false};
  const auto back = DecodeMessage(EncodeMessage(message));
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  const RankEnd& end = *back->end;
  EXPECT_EQ(end.rank, 3U);
  EXPECT_EQ(end.local_rank, 1U);
  EXPECT_EQ(end.node, "server2");
  EXPECT_EQ(end.pid, 4711);
  EXPECT_EQ(end.signal, 11);
  EXPECT_EQ(end.exit_code, std::nullopt);
  EXPECT_TRUE(end.core);
  EXPECT_DOUBLE_EQ(end.seconds, 12.5);
  ASSERT_EQ(end.last_lines.size(), 2U);
  EXPECT_EQ(end.last_lines[1], "c");
  EXPECT_EQ(end.nccl_last, "NCCL WARN x");
  EXPECT_EQ(end.python_error, std::nullopt);
  EXPECT_EQ(end.oom_killed, false);
}

TEST(Message, ProblemsAndStatesComeBackAsTheyWere) {
  Message ready{.kind = Message::Kind::kReady};
  ready.problems = {{.from = "n1", .to = "n2", .address = "10.0.0.2:99", .reason = "no route", .rank = 0},
                    {.kind = Problem::Kind::kOdd, .from = "n1", .rank = 5}};
  ready.more_problems = 2;
  const auto back = DecodeMessage(EncodeMessage(ready));
  ASSERT_TRUE(back.ok());
  ASSERT_EQ(back->problems.size(), 2U);
  EXPECT_EQ(back->problems[0].address, "10.0.0.2:99");
  EXPECT_EQ(back->problems[0].reason, "no route");
  EXPECT_EQ(back->problems[1].kind, Problem::Kind::kOdd);
  EXPECT_EQ(back->problems[1].rank, 5U);
  EXPECT_EQ(back->more_problems, 2U);

  Message state{.kind = Message::Kind::kState};
  state.states = {{.rank = 1, .node = "n", .pid = 9, .state = "S", .last_line = "x", .stack = {"f", "g"}}};
  const auto states = DecodeMessage(EncodeMessage(state));
  ASSERT_TRUE(states.ok());
  ASSERT_EQ(states->states.size(), 1U);
  EXPECT_EQ(states->states[0].stack.size(), 2U);
}

TEST(Message, EveryKindComesBack) {
  for (int kind = 0; kind <= static_cast<int>(Message::Kind::kEnd); ++kind) {
    Message message{.kind = static_cast<Message::Kind>(kind)};
    message.end = RankEnd{.exit_code = 1};
    message.lost = {"n1"};
    message.status = 3;
    const auto back = DecodeMessage(EncodeMessage(message));
    ASSERT_TRUE(back.ok()) << kind;
    EXPECT_EQ(static_cast<int>(back->kind), kind);
  }
}

TEST(Message, WhatIsNoMessageIsAnError) {
  const std::vector<std::string> table = {
      "",
      "hello",
      "{",
      "[]",
      "null",
      R"({"t":1})",
      R"({"t":"unknown"})",
      R"({"kind":"hello"})",
      R"({"t":"hello"})",
      R"({"t":"hello","role":"tree","node":-1,"rank":0})",
      R"({"t":"hello","role":"tree","node":4294967296,"rank":0})",
      R"({"t":"hello","role":"boss","node":1,"rank":0})",
      R"({"t":"hello","role":"tree","node":"1","rank":0})",
      R"({"t":"failed"})",
      R"({"t":"failed","end":7})",
      R"({"t":"failed","end":{"rank":1,"local":0,"ms":5}})",
      R"({"t":"failed","end":{"rank":1,"local":0,"ms":5,"exit":1,"signal":9}})",
      R"({"t":"failed","end":{"rank":1,"local":0,"ms":5,"exit":256}})",
      R"({"t":"failed","end":{"rank":-1,"local":0,"ms":5,"exit":1}})",
      R"({"t":"lost"})",
      R"({"t":"lost","nodes":[]})",
      R"({"t":"lost","nodes":[1]})",
      R"({"t":"ready","problems":7})",
      R"({"t":"ready","problems":[{}]})",
      R"({"t":"ready","problems":[{"k":"odd","rank":"x"}]})",
      R"({"t":"state","states":{}})",
      R"({"t":"state","states":[{"node":"x"}]})",
      R"({"t":"end"})",
      R"({"t":"end","status":300})",
      R"({"t":"end","status":"1"})",
  };
  for (const auto& text : table) {
    const auto message = DecodeMessage(text);
    ASSERT_FALSE(message.ok()) << text;
    EXPECT_NE(message.error().ToString().find("not a message of this version of nccl-launch"), std::string::npos);
  }
}

TEST(Message, WhatDoesNotFitIsCounted) {
  Message all{.kind = Message::Kind::kReady};
  Message one{.kind = Message::Kind::kReady};
  one.problems.push_back({.from = "n1", .to = std::string(200, 'x'), .reason = std::string(200, 'y')});
  for (int count = 0; count < 1000; ++count) AddProblems(one, &all);
  EXPECT_EQ(all.problems.size(), kMostProblems);
  EXPECT_EQ(all.more_problems, 1000 - kMostProblems);
  EXPECT_LT(EncodeMessage(all).size(), Channel::kLongestLine);
}

}  // namespace
}  // namespace nccl_tune::launcher
