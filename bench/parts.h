// SPDX-License-Identifier: Apache-2.0
//
// What several collectives have in common: their shapes, bandwidths and stretches. Pure. Definitions of the bandwidths:
// nccl-tests, doc/PERFORMANCE.md.
#ifndef NCCL_TUNE_BENCH_PARTS_H_
#define NCCL_TUNE_BENCH_PARTS_H_

#include <cstdint>
#include <vector>

#include "bench/collective.h"

namespace nccl_tune::bench {

// One rank's part where a size is divided among the ranks: cut to 16 bytes, so that each part starts aligned.
std::uint64_t PartOf(const Question& question);

// Every rank sends and receives the whole size, at the beginning of its buffer.
Shape WholeShape(const Question& question);
// Every rank sends one part and gets the parts of all.
Shape CollectingShape(const Question& question);
// A rank sends a part for each rank and gets one.
Shape DistributingShape(const Question& question);

// (n-1)/n: a rank's own part crosses no wire.
double OthersShare(std::uint64_t ranks);
// One count, which crosses the wire once.
Bandwidth WholeBandwidth(const Shape& shape, const Question& question);
// As many counts as ranks, of which the own one crosses no wire.
Bandwidth PartsBandwidth(const Shape& shape, const Question& question);

// What every rank sends, and what the root alone does.
std::uint64_t SendsAll(const Shape& shape, const Seat& seat);
std::uint64_t SendsAsRoot(const Shape& shape, const Seat& seat);

// Appends elements [begin, begin + count) of each kind; nothing for count 0.
void AddZero(std::uint64_t begin, std::uint64_t count, std::vector<Stretch>* stretches);
void AddReduced(std::uint64_t begin, std::uint64_t count, std::uint64_t offset, std::vector<Stretch>* stretches);
void AddCopied(std::uint64_t begin, std::uint64_t count, std::uint64_t offset, std::uint64_t rank,
               std::vector<Stretch>* stretches);

// Elements [offset, offset + each) of what each rank sends, in the ranks' order.
std::vector<Stretch> OfEachRank(std::uint64_t each, std::uint64_t offset, std::uint64_t ranks);
// The parts of all ranks one after another.
std::vector<Stretch> Collected(const Shape& shape, const Seat& seat);
// What a rank finds that gets nothing: zeros, in place around what it sends.
std::vector<Stretch> Untouched(const Shape& shape, const Seat& seat);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_PARTS_H_
