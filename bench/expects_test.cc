// SPDX-License-Identifier: Apache-2.0
//
// Each collective's account of what it sends and gives, against the operations as the MPI standard defines them.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "bench/collective.h"

namespace nccl_tune::bench {
namespace {

using Values = std::vector<std::uint64_t>;

constexpr std::uint64_t kTypeBytes = 4;

// Element `index` of what `rank` sends; never 0.
std::uint64_t Tag(std::uint64_t rank, std::uint64_t index) { return (rank + 1) * (1U << 20U) + index; }

// What one call must do, on plain vectors: `send` per rank, `receive` as it was before the call.
struct Ranks {
  std::vector<Values> send;
  std::vector<Values> receive;  // from where the result begins
};

struct Step {
  std::uint64_t ranks;
  std::uint64_t root;
  std::uint64_t count;
  const Traffic* traffic;
  std::uint64_t total;
};

void Copy(const Values& from, std::uint64_t from_index, std::uint64_t count, Values* to, std::uint64_t to_index) {
  for (std::uint64_t i = 0; i < count; ++i) to->at(to_index + i) = from.at(from_index + i);
}

std::uint64_t Sum(const Ranks& ranks, std::uint64_t index) {
  std::uint64_t sum = 0;
  for (const Values& one : ranks.send) sum += one.at(index);
  return sum;
}

void RunRooted(CollectiveKind kind, const Step& step, Ranks* all) {
  Values& at_root = all->receive[step.root];
  for (std::uint64_t rank = 0; rank < step.ranks; ++rank) {
    if (kind == CollectiveKind::kBroadcast) Copy(all->send[step.root], 0, step.count, &all->receive[rank], 0);
    if (kind == CollectiveKind::kScatter) {
      Copy(all->send[step.root], rank * step.count, step.count, &all->receive[rank], 0);
    }
    if (kind == CollectiveKind::kGather) Copy(all->send[rank], 0, step.count, &at_root, rank * step.count);
  }
  if (kind != CollectiveKind::kReduce) return;
  for (std::uint64_t i = 0; i < step.count; ++i) at_root.at(i) = Sum(*all, i);
}

void RunAlltoallv(const Step& step, Ranks* all) {
  std::vector<std::uint64_t> filled(step.ranks);
  for (std::uint64_t from = 0; from < step.ranks; ++from) {
    std::uint64_t offset = 0;
    for (std::uint64_t to = 0; to < step.ranks; ++to) {
      const std::uint64_t count = step.traffic->Bytes(from, to, step.ranks, step.total) / kTypeBytes;
      Copy(all->send[from], offset, count, &all->receive[to], filled[to]);
      offset += count;
      filled[to] += count;
    }
  }
}

void Run(CollectiveKind kind, const Step& step, Ranks* all) {
  const std::uint64_t n = step.ranks;
  const std::uint64_t count = step.count;
  if (kind == CollectiveKind::kAlltoallv) return RunAlltoallv(step, all);
  for (std::uint64_t rank = 0; rank < n; ++rank) {
    Values& mine = all->receive[rank];
    switch (kind) {
      case CollectiveKind::kAllReduce:
        for (std::uint64_t i = 0; i < count; ++i) mine.at(i) = Sum(*all, i);
        break;
      case CollectiveKind::kReduceScatter:
        for (std::uint64_t i = 0; i < count; ++i) mine.at(i) = Sum(*all, rank * count + i);
        break;
      case CollectiveKind::kAllGather:
      case CollectiveKind::kHypercube:
        for (std::uint64_t from = 0; from < n; ++from) Copy(all->send[from], 0, count, &mine, from * count);
        break;
      case CollectiveKind::kAlltoall:
        for (std::uint64_t from = 0; from < n; ++from) {
          Copy(all->send[from], rank * count, count, &mine, from * count);
        }
        break;
      case CollectiveKind::kSendrecv:
        Copy(all->send[rank], 0, count, &all->receive[(rank + 1) % n], 0);
        break;
      default:
        return RunRooted(kind, step, all);
    }
  }
}

std::uint64_t ValueOf(const Stretch& stretch, std::uint64_t i, const std::vector<Values>& sent) {
  if (stretch.kind == Stretch::Kind::kZero) return 0;
  if (stretch.kind == Stretch::Kind::kCopied) {
    const std::uint64_t rank = stretch.rank + i / stretch.each * stretch.rank_step;
    return sent.at(rank).at(stretch.offset + i % stretch.each);
  }
  std::uint64_t sum = 0;
  for (const Values& one : sent) sum += one.at(stretch.offset + i);
  return sum;
}

Values Listed(const std::vector<Stretch>& stretches, const std::vector<Values>& sent) {
  Values values;
  for (const Stretch& stretch : stretches) {
    EXPECT_EQ(stretch.begin, values.size());
    EXPECT_GE(stretch.each, 1U);
    for (std::uint64_t i = 0; i < stretch.count; ++i) values.push_back(ValueOf(stretch, i, sent));
  }
  return values;
}

// A rank's receive buffer before the call, with what it sends in it when in place.
Values Buffer(const Shape& shape, const Seat& seat, const Values& sent) {
  const std::uint64_t strides = (shape.send_stride + shape.receive_stride) * seat.ranks;
  Values buffer(shape.send_count + shape.receive_count + strides);
  if (seat.in_place) Copy(sent, 0, sent.size(), &buffer, seat.rank * shape.send_stride);
  return buffer;
}

void ExpectAgreement(const Collective& collective, const Question& question, std::uint64_t root, bool in_place) {
  const Shape shape = collective.shape(question);
  const auto seat = [&](std::uint64_t rank) {
    return Seat{.rank = rank,
                .ranks = question.ranks,
                .root = root,
                .type_bytes = question.type_bytes,
                .in_place = in_place,
                .traffic = question.traffic};
  };
  Ranks all;
  for (std::uint64_t rank = 0; rank < question.ranks; ++rank) {
    const std::uint64_t sends = collective.sends(shape, seat(rank));
    ASSERT_LE(sends, shape.send_count);
    Values sent(sends);
    std::iota(sent.begin(), sent.end(), Tag(rank, 0));
    const Values buffer = Buffer(shape, seat(rank), sent);
    const auto begin = buffer.begin() + static_cast<std::ptrdiff_t>(rank * shape.receive_stride);
    all.receive.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(shape.receive_count));
    all.send.push_back(std::move(sent));
  }
  Run(collective.kind,
      {.ranks = question.ranks,
       .root = root,
       .count = shape.count,
       .traffic = question.traffic,
       .total = shape.count * question.ranks * question.type_bytes},
      &all);
  for (std::uint64_t rank = 0; rank < question.ranks; ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank));
    EXPECT_EQ(Listed(collective.expects(shape, seat(rank)), all.send), all.receive[rank]);
  }
}

constexpr const char* kNames[] = {"all_reduce", "all_gather", "broadcast", "reduce_scatter", "reduce",   "alltoall",
                                  "alltoallv",  "scatter",    "gather",    "sendrecv",       "hypercube"};

void ExpectAgreement(const Question& question) {
  for (const char* name : kNames) {
    const Collective& collective = *FindCollective(name);
    for (const bool in_place : {false, true}) {
      if (in_place && !collective.checks_in_place) continue;
      for (std::uint64_t root = 0; root < (collective.has_root ? question.ranks : 1); ++root) {
        SCOPED_TRACE(std::string(name) + (in_place ? " in place, " : ", ") + std::to_string(question.elements) +
                     " elements, " + std::to_string(question.ranks) + " ranks, root " + std::to_string(root));
        ExpectAgreement(collective, question, root, in_place);
      }
    }
  }
}

TEST(ExpectsTest, AgreesWithTheStandard) {
  for (std::uint64_t ranks = 1; ranks <= 8; ++ranks) {
    for (const double spread : {0.0, 0.3, 1.0}) {
      const Traffic traffic(spread);
      for (const std::uint64_t elements : {0U, 1U, 4U, 33U, 64U, 500U}) {
        ExpectAgreement({.elements = elements, .type_bytes = kTypeBytes, .ranks = ranks, .traffic = &traffic});
      }
    }
  }
}

TEST(ExpectsTest, AgreesWithTheStandardByMatrix) {
  for (std::uint64_t ranks = 1; ranks <= 8; ++ranks) {
    std::string text;
    for (std::uint64_t cell = 0; cell < 64; ++cell) {
      text += std::to_string(cell * 37 % 11 * 20) + (cell % 8 == 7 ? "\n" : " ");
    }
    const auto traffic = Traffic::FromMatrix(text, "matrix", 1);
    ASSERT_TRUE(traffic.ok());
    ExpectAgreement({.elements = 500, .type_bytes = kTypeBytes, .ranks = ranks, .traffic = &*traffic});
  }
}

}  // namespace
}  // namespace nccl_tune::bench
