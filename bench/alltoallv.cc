// SPDX-License-Identifier: Apache-2.0
#include "bench/alltoallv.h"

#include <algorithm>

#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

Shape ShapeOf(const Question& question) {
  const std::uint64_t part = question.traffic->is_matrix() ? 0 : PartOf(question);
  const auto most =
      question.traffic->MostElements(question.type_bytes, question.ranks, part * question.ranks * question.type_bytes);
  return {.count = part, .send_count = most.sent, .receive_count = most.received};
}

// Of the rank that sends or receives most.
Bandwidth BandwidthOf(const Shape& shape, const Question& question) {
  const std::uint64_t most = std::max(shape.send_count, shape.receive_count);
  return {.bytes = static_cast<double>(most * question.type_bytes), .bus_factor = OthersShare(question.ranks)};
}

// What one rank sends to each in one call, in elements. A generated pattern depends on the distance alone, so that a
// rank's sums over all the others cost as much as over one.
class Parts {
 public:
  Parts(const Shape& shape, const Seat& seat)
      : seat_(seat), total_(shape.count * seat.ranks * seat.type_bytes), by_distance_(seat.ranks + 1) {
    if (seat.traffic->is_matrix()) return;
    for (std::uint64_t distance = 0; distance < seat.ranks; ++distance) {
      by_distance_[distance + 1] = by_distance_[distance] + Count(0, distance);
    }
  }

  std::uint64_t Count(std::uint64_t from, std::uint64_t to) const {
    return seat_.traffic->Bytes(from, to, seat_.ranks, total_) / seat_.type_bytes;
  }

  // From rank `from` to all ranks below `to`.
  std::uint64_t Before(std::uint64_t from, std::uint64_t to) const {
    if (seat_.traffic->is_matrix()) {
      std::uint64_t sum = 0;
      for (std::uint64_t rank = 0; rank < to; ++rank) sum += Count(from, rank);
      return sum;
    }
    // Distances n-from .. n-1 lead to the ranks below `from`, distances from 0 on to the others.
    const std::uint64_t wrapped = seat_.ranks - from;
    if (to <= from) return by_distance_[wrapped + to] - by_distance_[wrapped];
    return by_distance_[seat_.ranks] - by_distance_[wrapped] + by_distance_[to - from];
  }

 private:
  const Seat& seat_;
  std::uint64_t total_;                     // bytes that a rank sends, before they are cut
  std::vector<std::uint64_t> by_distance_;  // [d]: elements to all ranks nearer than d
};

std::uint64_t Sends(const Shape& shape, const Seat& seat) { return Parts(shape, seat).Before(seat.rank, seat.ranks); }

std::vector<Stretch> Expects(const Shape& shape, const Seat& seat) {
  const Parts parts(shape, seat);
  std::vector<Stretch> stretches;
  std::uint64_t begin = 0;
  for (std::uint64_t from = 0; from < seat.ranks; ++from) {
    const std::uint64_t count = parts.Count(from, seat.rank);
    if (count == 0) continue;
    AddCopied(begin, count, parts.Before(from, seat.rank), from, &stretches);
    begin += count;
  }
  AddZero(begin, shape.receive_count - begin, &stretches);
  return stretches;
}

}  // namespace

const Collective kAlltoallv = {.kind = CollectiveKind::kAlltoallv,
                               .name = "alltoallv",
                               .reduces = false,
                               .lists_ops = false,
                               .has_root = false,
                               .checks_in_place = false,
                               .op_column = "none",
                               .shape = ShapeOf,
                               .bandwidth = BandwidthOf,
                               .sends = Sends,
                               .expects = Expects};

}  // namespace nccl_tune::bench
