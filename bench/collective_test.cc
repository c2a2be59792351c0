// SPDX-License-Identifier: Apache-2.0
#include "bench/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "bench/traffic.h"

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CollectiveTest, KnowsAllInNcclTestsOrder) {
  EXPECT_EQ(CollectiveNames(),
            "all_reduce, all_gather, broadcast, reduce_scatter, reduce, alltoall, alltoallv, scatter, gather, "
            "sendrecv, hypercube");
  for (const char* name : {"", "all", "allreduce", "all_reduce_perf", "ALL_REDUCE", "all_reduce ", "bisection"}) {
    EXPECT_EQ(FindCollective(name), nullptr) << name;
  }
}

TEST(CollectiveTest, KnowsWhatTheTableShows) {
  struct Case {
    const char* name;
    CollectiveKind kind;
    bool reduces;
    bool lists_ops;
    bool has_root;
    bool checks_in_place;
    const char* op_column;
  };
  for (const Case& one :
       std::vector<Case>{{"all_reduce", CollectiveKind::kAllReduce, true, true, false, true, ""},
                         {"all_gather", CollectiveKind::kAllGather, false, false, false, true, "none"},
                         {"broadcast", CollectiveKind::kBroadcast, false, false, true, true, "none"},
                         {"reduce_scatter", CollectiveKind::kReduceScatter, true, true, false, true, ""},
                         {"reduce", CollectiveKind::kReduce, true, true, true, true, ""},
                         {"alltoall", CollectiveKind::kAlltoall, false, false, false, false, "none"},
                         {"alltoallv", CollectiveKind::kAlltoallv, false, false, false, false, "none"},
                         {"scatter", CollectiveKind::kScatter, false, false, true, true, "none"},
                         {"gather", CollectiveKind::kGather, false, false, true, true, "none"},
                         {"sendrecv", CollectiveKind::kSendrecv, false, true, false, false, ""},
                         {"hypercube", CollectiveKind::kHypercube, false, false, false, true, ""}}) {
    const Collective* found = FindCollective(one.name);
    ASSERT_NE(found, nullptr) << one.name;
    EXPECT_EQ(found->kind, one.kind) << one.name;
    EXPECT_EQ(found->name, one.name);
    EXPECT_EQ(found->reduces, one.reduces) << one.name;
    EXPECT_EQ(found->lists_ops, one.lists_ops) << one.name;
    EXPECT_EQ(found->has_root, one.has_root) << one.name;
    EXPECT_EQ(found->checks_in_place, one.checks_in_place) << one.name;
    EXPECT_EQ(found->op_column, one.op_column) << one.name;
  }
}

struct ShapeCase {
  std::uint64_t elements;
  std::uint64_t type_bytes;
  std::uint64_t ranks;
  // count, most sent, most received, strides of sending and receiving
  std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t> shape;
  double bytes;
  double bus_factor;
};

void ExpectShapes(const char* name, const std::vector<ShapeCase>& cases) {
  const Traffic traffic;
  for (const ShapeCase& one : cases) {
    SCOPED_TRACE(std::string(name) + " " + std::to_string(one.elements) + " elements of " +
                 std::to_string(one.type_bytes) + ", " + std::to_string(one.ranks) + " ranks");
    const Question question{
        .elements = one.elements, .type_bytes = one.type_bytes, .ranks = one.ranks, .traffic = &traffic};
    const Collective& collective = *FindCollective(name);
    const Shape shape = collective.shape(question);
    EXPECT_EQ(std::tuple(shape.count, shape.send_count, shape.receive_count, shape.send_stride, shape.receive_stride),
              one.shape);
    const Bandwidth bandwidth = collective.bandwidth(shape, question);
    EXPECT_DOUBLE_EQ(bandwidth.bytes, one.bytes);
    EXPECT_DOUBLE_EQ(bandwidth.bus_factor, one.bus_factor);
  }
}

constexpr std::uint64_t kLarge = 1ULL << 40U;

TEST(CollectiveTest, AllReduce) {
  ExpectShapes("all_reduce", {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 1.5},
                              {1, 4, 1, {1, 1, 1, 0, 0}, 4, 0},
                              {3, 1, 2, {3, 3, 3, 0, 0}, 3, 1},
                              {1000, 8, 8, {1000, 1000, 1000, 0, 0}, 8000, 1.75},
                              {kLarge, 4, 16384, {kLarge, kLarge, kLarge, 0, 0}, 0x1p42, 2.0 * 16383 / 16384}});
}

TEST(CollectiveTest, Broadcast) {
  ExpectShapes("broadcast", {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 1},
                             {7, 2, 1, {7, 7, 7, 0, 0}, 14, 1},
                             {1000, 8, 3, {1000, 1000, 1000, 0, 0}, 8000, 1}});
}

TEST(CollectiveTest, Reduce) {
  ExpectShapes("reduce", {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 1},
                          {7, 2, 1, {7, 7, 7, 0, 0}, 14, 1},
                          {1000, 8, 3, {1000, 1000, 1000, 0, 0}, 8000, 1}});
}

TEST(CollectiveTest, Sendrecv) {
  ExpectShapes("sendrecv", {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 1},
                            {7, 2, 1, {7, 7, 7, 0, 0}, 14, 1},
                            {1000, 8, 3, {1000, 1000, 1000, 0, 0}, 8000, 1}});
}

// Parts are cut to 16 bytes: 4 floats, 16 bytes, 2 doubles.
TEST(CollectiveTest, AllGather) {
  ExpectShapes("all_gather",
               {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                {15, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                {16, 4, 4, {4, 4, 16, 4, 0}, 64, 0.75},
                {7, 4, 1, {4, 4, 4, 4, 0}, 16, 0},
                {100, 1, 3, {32, 32, 96, 32, 0}, 96, 2.0 / 3},
                {100, 8, 3, {32, 32, 96, 32, 0}, 768, 2.0 / 3},
                {33, 8, 2, {16, 16, 32, 16, 0}, 256, 0.5},
                {kLarge, 4, 16384, {1U << 26U, 1U << 26U, kLarge, 1U << 26U, 0}, 0x1p42, 16383.0 / 16384}});
}

TEST(CollectiveTest, Gather) {
  ExpectShapes("gather", {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                          {15, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                          {16, 4, 4, {4, 4, 16, 4, 0}, 64, 0.75},
                          {7, 2, 1, {0, 0, 0, 0, 0}, 0, 0}});
}

TEST(CollectiveTest, Hypercube) {
  ExpectShapes("hypercube", {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 1},
                             {16, 4, 4, {4, 4, 16, 4, 0}, 48, 1},
                             {64, 4, 1, {64, 64, 64, 64, 0}, 0, 1},
                             {70, 2, 8, {8, 8, 64, 8, 0}, 112, 1}});
}

TEST(CollectiveTest, ReduceScatter) {
  ExpectShapes("reduce_scatter", {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                                  {15, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                                  {16, 4, 4, {4, 16, 4, 0, 4}, 64, 0.75},
                                  {17, 8, 1, {16, 16, 16, 0, 16}, 128, 0}});
}

TEST(CollectiveTest, Scatter) {
  ExpectShapes("scatter", {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                           {15, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                           {16, 4, 4, {4, 16, 4, 0, 4}, 64, 0.75},
                           {17, 8, 1, {16, 16, 16, 0, 16}, 128, 0}});
}

TEST(CollectiveTest, Alltoall) {
  ExpectShapes("alltoall", {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                            {15, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                            {16, 4, 4, {4, 16, 16, 0, 0}, 64, 0.75},
                            {17, 8, 1, {16, 16, 16, 0, 0}, 128, 0}});
}

// 4 ranks, 384 bytes: distances 0 to 3 get 0, 1/6, 2/6 and 3/6 of it: 0, 64, 128 and 192 bytes.
TEST(CollectiveTest, Alltoallv) {
  ExpectShapes("alltoallv", {{0, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                             {15, 4, 4, {0, 0, 0, 0, 0}, 0, 0.75},
                             {96, 4, 4, {24, 96, 96, 0, 0}, 384, 0.75},
                             {64, 4, 4, {16, 60, 60, 0, 0}, 240, 0.75},
                             {17, 8, 1, {16, 16, 16, 0, 0}, 128, 0}});
}

TEST(CollectiveTest, AlltoallvByMatrix) {
  const auto traffic = Traffic::FromMatrix("0 16 32\n64 0 0\n160 0 16\n", "m", 1);
  ASSERT_TRUE(traffic.ok());
  const Collective& collective = *FindCollective("alltoallv");
  const Question question{.elements = 100, .type_bytes = 4, .ranks = 3, .traffic = &*traffic};
  const Shape shape = collective.shape(question);
  EXPECT_EQ(shape.count, 0U);
  EXPECT_EQ(shape.send_count, 44U);     // rank 2
  EXPECT_EQ(shape.receive_count, 56U);  // rank 0
  EXPECT_DOUBLE_EQ(collective.bandwidth(shape, question).bytes, 224);
  EXPECT_DOUBLE_EQ(collective.bandwidth(shape, question).bus_factor, 2.0 / 3);
  const Seat seat{.rank = 2, .ranks = 3, .type_bytes = 4, .traffic = &*traffic};
  EXPECT_EQ(collective.sends(shape, seat), 44U);
  using Kind = Stretch::Kind;
  EXPECT_THAT(collective.expects(shape, seat),
              ElementsAre(Stretch{.kind = Kind::kCopied, .count = 8, .offset = 4, .each = 8},
                          Stretch{.kind = Kind::kCopied, .begin = 8, .count = 4, .offset = 40, .rank = 2, .each = 4},
                          Stretch{.kind = Kind::kZero, .begin = 12, .count = 44}));
}

TEST(CollectiveTest, LeavesOthersThanTheRootUntouched) {
  using Kind = Stretch::Kind;
  const Question question{.elements = 16, .type_bytes = 4, .ranks = 4};
  const Collective& gather = *FindCollective("gather");
  const Shape shape = gather.shape(question);
  Seat seat{.rank = 1, .ranks = 4, .root = 2, .type_bytes = 4};
  const Stretch zeros{.kind = Kind::kZero, .count = 16};
  EXPECT_THAT(gather.expects(shape, seat), ElementsAre(zeros));
  EXPECT_THAT(FindCollective("reduce")->expects(FindCollective("reduce")->shape(question), seat), ElementsAre(zeros));
  seat.in_place = true;
  EXPECT_THAT(gather.expects(shape, seat),
              ElementsAre(Stretch{.kind = Kind::kZero, .count = 4},
                          Stretch{.kind = Kind::kCopied, .begin = 4, .count = 4, .rank = 1, .each = 4},
                          Stretch{.kind = Kind::kZero, .begin = 8, .count = 8}));
  EXPECT_THAT(FindCollective("reduce")->expects(FindCollective("reduce")->shape(question), seat),
              ElementsAre(Stretch{.kind = Kind::kCopied, .count = 16, .rank = 1, .each = 16}));
}

TEST(CollectiveTest, ExpectsNothingOfNothing) {
  const Traffic traffic;
  for (const char* name : {"all_reduce", "all_gather", "broadcast", "reduce_scatter", "reduce", "alltoall", "alltoallv",
                           "scatter", "gather", "sendrecv", "hypercube"}) {
    const Collective& collective = *FindCollective(name);
    const Shape shape = collective.shape({.elements = 0, .type_bytes = 4, .ranks = 4, .traffic = &traffic});
    for (const bool in_place : {false, true}) {
      const Seat seat{.rank = 3, .ranks = 4, .root = 1, .type_bytes = 4, .in_place = in_place, .traffic = &traffic};
      EXPECT_EQ(collective.sends(shape, seat), 0U) << name;
      EXPECT_THAT(collective.expects(shape, seat), IsEmpty()) << name;
    }
  }
}

// One rank's list of a generated pattern must not cost a look at each pair of ranks.
TEST(CollectiveTest, ListsAlltoallvOfManyRanks) {
  constexpr std::uint64_t kRanks = 16384;
  const Traffic traffic;
  const Collective& collective = *FindCollective("alltoallv");
  const Shape shape =
      collective.shape({.elements = kRanks * 1024, .type_bytes = 4, .ranks = kRanks, .traffic = &traffic});
  for (const std::uint64_t rank : {std::uint64_t{0}, std::uint64_t{1}, kRanks / 2, kRanks - 1}) {
    const auto stretches =
        collective.expects(shape, {.rank = rank, .ranks = kRanks, .type_bytes = 4, .traffic = &traffic});
    EXPECT_GT(stretches.size(), kRanks - 100);  // the nearest get less than 16 bytes
    EXPECT_EQ(stretches.back().begin + stretches.back().count, shape.receive_count);
  }
}

}  // namespace
}  // namespace nccl_tune::bench
