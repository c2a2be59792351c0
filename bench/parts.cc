// SPDX-License-Identifier: Apache-2.0
#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

constexpr std::uint64_t kAlignment = 16;  // bytes

double BytesOf(std::uint64_t count, const Question& question) {
  return static_cast<double>(count * question.type_bytes);
}

}  // namespace

std::uint64_t PartOf(const Question& question) {
  const std::uint64_t part = question.elements / question.ranks;
  return part - part % (kAlignment / question.type_bytes);
}

Shape WholeShape(const Question& question) {
  return {.count = question.elements, .send_count = question.elements, .receive_count = question.elements};
}

Shape CollectingShape(const Question& question) {
  const std::uint64_t part = PartOf(question);
  return {.count = part, .send_count = part, .receive_count = part * question.ranks, .send_stride = part};
}

Shape DistributingShape(const Question& question) {
  const std::uint64_t part = PartOf(question);
  return {.count = part, .send_count = part * question.ranks, .receive_count = part, .receive_stride = part};
}

double OthersShare(std::uint64_t ranks) { return static_cast<double>(ranks - 1) / static_cast<double>(ranks); }

Bandwidth WholeBandwidth(const Shape& shape, const Question& question) {
  return {.bytes = BytesOf(shape.count, question), .bus_factor = 1};
}

Bandwidth PartsBandwidth(const Shape& shape, const Question& question) {
  return {.bytes = BytesOf(shape.count * question.ranks, question), .bus_factor = OthersShare(question.ranks)};
}

std::uint64_t SendsAll(const Shape& shape, const Seat&) { return shape.send_count; }

std::uint64_t SendsAsRoot(const Shape& shape, const Seat& seat) {
  return seat.rank == seat.root ? shape.send_count : 0;
}

void AddZero(std::uint64_t begin, std::uint64_t count, std::vector<Stretch>* stretches) {
  if (count != 0) stretches->push_back({.kind = Stretch::Kind::kZero, .begin = begin, .count = count});
}

void AddReduced(std::uint64_t begin, std::uint64_t count, std::uint64_t offset, std::vector<Stretch>* stretches) {
  if (count == 0) return;
  stretches->push_back({.kind = Stretch::Kind::kReduced, .begin = begin, .count = count, .offset = offset});
}

void AddCopied(std::uint64_t begin, std::uint64_t count, std::uint64_t offset, std::uint64_t rank,
               std::vector<Stretch>* stretches) {
  if (count == 0) return;
  stretches->push_back(
      {.kind = Stretch::Kind::kCopied, .begin = begin, .count = count, .offset = offset, .rank = rank, .each = count});
}

std::vector<Stretch> OfEachRank(std::uint64_t each, std::uint64_t offset, std::uint64_t ranks) {
  if (each == 0) return {};
  return {{.kind = Stretch::Kind::kCopied, .count = each * ranks, .offset = offset, .rank_step = 1, .each = each}};
}

std::vector<Stretch> Collected(const Shape& shape, const Seat& seat) { return OfEachRank(shape.count, 0, seat.ranks); }

std::vector<Stretch> Untouched(const Shape& shape, const Seat& seat) {
  std::vector<Stretch> stretches;
  if (!seat.in_place) {
    AddZero(0, shape.receive_count, &stretches);
    return stretches;
  }
  const std::uint64_t own = seat.rank * shape.send_stride;
  const std::uint64_t end = own + shape.send_count;
  AddZero(0, own, &stretches);
  AddCopied(own, shape.send_count, 0, seat.rank, &stretches);
  AddZero(end, shape.receive_count - end, &stretches);
  return stretches;
}

}  // namespace nccl_tune::bench
