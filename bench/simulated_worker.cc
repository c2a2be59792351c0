// SPDX-License-Identifier: Apache-2.0
#include "bench/simulated_worker.h"

#include <algorithm>
#include <cstring>

#include "bench/pattern.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr int kInternal = 1;
constexpr int kTimeout = 4;

bool IsSame(const Call& a, const Call& b) {
  return a.collective == b.collective && a.type == b.type && a.op == b.op && a.root == b.root &&
         a.in_place == b.in_place && a.traffic == b.traffic && a.shape.count == b.shape.count &&
         a.shape.send_count == b.shape.send_count && a.shape.receive_count == b.shape.receive_count;
}

std::uint64_t BytesOfCall(const Call& call) {
  return std::max(call.shape.send_count, call.shape.receive_count) * BytesOf(call.type);
}

// What stands in `data` after a collective that has done what it should.
template <typename T>
void Write(const DataKey& key, const std::vector<Stretch>& stretches, T* data) {
  const Pattern<T> pattern(key.op, key.seed, key.ranks, key.reduces);
  for (const Stretch& stretch : stretches) {
    T* const to = data + stretch.begin;
    for (std::uint64_t i = 0; i < stretch.count; ++i) {
      if (stretch.kind == Stretch::Kind::kZero) to[i] = T{};
      if (stretch.kind == Stretch::Kind::kReduced) to[i] = pattern.Expected(stretch.offset + i);
      if (stretch.kind != Stretch::Kind::kCopied) continue;
      const std::uint64_t rank = stretch.rank + i / stretch.each * stretch.rank_step;
      to[i] = pattern.Value(rank, stretch.offset + i % stretch.each);
    }
  }
}

// All bits but the sign are no number in every floating-point type.
void MakeNan(std::uint64_t bytes, std::byte* element) {
  std::memset(element, 0xff, bytes);
  element[bytes - 1] = std::byte{0x7f};
}

double Combined(double a, double b, Combine how) {
  if (how == Combine::kMin) return std::min(a, b);
  if (how == Combine::kMax) return std::max(a, b);
  return a + b;
}

Error Misuse(const std::string& what) { return {.what = "the frame: " + what}; }

}  // namespace

void SimulatedWorker::SetPlace(const SimulatedPlace& place) {
  place_ = place;
  filled_.reset();
}

bool SimulatedWorker::IsFault(SimulatedFault::Kind kind, std::uint64_t number) const {
  return behaviour_.fault && behaviour_.fault->kind == kind && behaviour_.fault->at == number;
}

Seat SimulatedWorker::SeatOf(const Call& call) const {
  return {.rank = place_.rank,
          .ranks = place_.ranks,
          .root = call.root,
          .type_bytes = BytesOf(call.type),
          .in_place = call.in_place,
          .traffic = call.traffic};
}

DataKey SimulatedWorker::KeyOf(const Call& call, std::uint64_t seed) const {
  return {.type = call.type,
          .op = call.op,
          .seed = seed,
          .ranks = place_.ranks,
          .rank = place_.rank,
          .reduces = call.collective->reduces};
}

Status SimulatedWorker::Fits(const Call& call) const {
  const std::uint64_t bytes = BytesOfCall(call);
  if (bytes <= bytes_) return base::Ok();
  return Misuse("a call of " + std::to_string(bytes) + " bytes in buffers of " + std::to_string(bytes_));
}

Status SimulatedWorker::Fill(const Call& call, std::uint64_t seed) {
  if (recording_) return Misuse("Fill in a recording");
  ++counts_.fills;
  NCCL_TUNE_RETURN_IF_ERROR(Fits(call));
  filled_ = call;
  seed_ = seed;
  ran_ = false;
  made_ = false;
  return base::Ok();
}

Status SimulatedWorker::Start(const Call& call, std::uint64_t iteration) {
  if (!place_.in_group) return Misuse("a collective in no group");
  NCCL_TUNE_RETURN_IF_ERROR(Fits(call));
  if (!recording_) return Run(call, iteration);
  recorded_.push_back({.call = call, .iteration = iteration});
  return base::Ok();
}

Status SimulatedWorker::Run(const Call& call, std::uint64_t iteration) {
  ++counts_.starts;
  running_ = true;
  if (iteration == 0 && filled_ && IsSame(*filled_, call)) ran_ = true;
  if (behaviour_.keeps_calls) counts_.calls.push_back({.call = call, .iteration = iteration});
  if (behaviour_.seconds) device_seconds_ += behaviour_.seconds(call, counts_.starts);
  if (IsFault(SimulatedFault::Kind::kTimeout, counts_.starts)) late_ = true;
  if (!IsFault(SimulatedFault::Kind::kError, counts_.starts)) return base::Ok();
  failure_ = kInternal;
  return Error{.what = "broke", .where = "call " + std::to_string(counts_.starts)};
}

Status SimulatedWorker::Finish() {
  if (grouping_) return Misuse("Finish in an open group");
  if (recording_) return Misuse("Finish in a recording");
  ++counts_.finishes;
  running_ = false;
  if (!late_) return base::Ok();
  failure_ = kTimeout;
  return Error{.code = Code::kTimeout, .what = "Test timeout"};
}

// A result that was never computed is zero.
Status SimulatedWorker::MakeResult(const Call& call) {
  if (running_) return Misuse("Check or Corrupt before Finish");
  if (!filled_ || !IsSame(*filled_, call)) return Misuse("Check or Corrupt of another call");
  if (made_) return base::Ok();
  made_ = true;
  result_.assign(BytesOfCall(call), std::byte{0});
  if (!ran_) return base::Ok();
  const std::vector<Stretch> stretches = call.collective->expects(call.shape, SeatOf(call));
  WithType(call.type, [&](auto zero) {
    using T = decltype(zero);
    Write(KeyOf(call, seed_), stretches, reinterpret_cast<T*>(result_.data()));
  });
  return base::Ok();
}

Result<Mismatches> SimulatedWorker::Check(const Call& call, std::uint64_t seed) {
  ++counts_.checks;
  NCCL_TUNE_RETURN_IF_ERROR(MakeResult(call));
  const std::uint64_t bytes = BytesOf(call.type);
  const std::uint64_t offset = behaviour_.fault ? behaviour_.fault->offset : 0;
  if ((offset + 1) * bytes <= result_.size()) {
    if (IsFault(SimulatedFault::Kind::kWrong, counts_.checks)) CorruptData(call.type, offset, result_.data());
    if (IsFault(SimulatedFault::Kind::kNan, counts_.checks)) MakeNan(bytes, result_.data() + offset * bytes);
  }
  const std::vector<Stretch> stretches = call.collective->expects(call.shape, SeatOf(call));
  return CheckData(KeyOf(call, seed), stretches, result_.data());
}

Status SimulatedWorker::Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) {
  if (rank != place_.rank) return base::Ok();
  ++counts_.corruptions;
  NCCL_TUNE_RETURN_IF_ERROR(MakeResult(call));
  CorruptData(call.type, offset, result_.data());
  return base::Ok();
}

Status SimulatedWorker::BeginGroup() {
  if (grouping_) return Misuse("a group in a group");
  grouping_ = true;
  ++counts_.groups;
  return base::Ok();
}

Status SimulatedWorker::EndGroup() {
  if (!grouping_) return Misuse("EndGroup without BeginGroup");
  grouping_ = false;
  return base::Ok();
}

double SimulatedWorker::Now() const {
  if (behaviour_.seconds) return device_seconds_;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Status SimulatedWorker::ReserveMarks(std::size_t count) {
  marks_.assign(count, std::nullopt);
  return base::Ok();
}

Status SimulatedWorker::Mark(std::size_t index) {
  if (index >= marks_.size()) return Misuse("mark " + std::to_string(index) + " of " + std::to_string(marks_.size()));
  marks_[index] = Now();
  return base::Ok();
}

Result<std::vector<double>> SimulatedWorker::Between(const std::vector<std::pair<std::size_t, std::size_t>>& marks) {
  if (running_) return Misuse("Between before Finish");
  std::vector<double> seconds;
  for (const auto& [first, second] : marks) {
    const bool set = std::max(first, second) < marks_.size() && marks_[first] && marks_[second];
    if (!set) return Misuse("no mark " + std::to_string(first) + " or " + std::to_string(second));
    seconds.push_back(*marks_[second] - *marks_[first]);
  }
  return seconds;
}

Status SimulatedWorker::BeginCapture() {
  if (recording_ || !recorded_.empty()) return Misuse("a recording beside a recording");
  recording_ = true;
  ++counts_.recordings;
  return base::Ok();
}

Status SimulatedWorker::EndCapture() {
  if (!recording_) return Misuse("EndCapture without BeginCapture");
  recording_ = false;
  return base::Ok();
}

Status SimulatedWorker::Replay() {
  if (recording_ || recorded_.empty()) return Misuse("Replay without a recording");
  ++counts_.replays;
  for (const auto& one : recorded_) NCCL_TUNE_RETURN_IF_ERROR(Run(one.call, one.iteration));
  return base::Ok();
}

Status SimulatedWorker::DropCapture() {
  if (recording_) return Misuse("DropCapture in a recording");
  recorded_.clear();
  return base::Ok();
}

Result<std::vector<double>> SimulatedWorker::Meet(const std::vector<double>& values, Combine how) {
  const auto combine = [how](double a, double b) { return Combined(a, b, how); };
  return team_.Meet(values, combine, [](const std::vector<double>& all) { return Result(all); });
}

Status SimulatedWorker::Barrier() {
  ++counts_.barriers;
  const auto met = Meet({}, Combine::kSum);
  return met.ok() ? base::Ok() : Status(met.error());
}

// The other processes have the same.
Result<double> SimulatedWorker::Reduce(double value, Combine how) {
  ++counts_.reductions;
  NCCL_TUNE_ASSIGN_OR_RETURN(met, Meet({value}, how));
  return how == Combine::kSum ? met[0] * static_cast<double>(place_.processes) : met[0];
}

Result<std::vector<std::vector<double>>> SimulatedWorker::GatherGreatest(const std::vector<double>& values) {
  NCCL_TUNE_ASSIGN_OR_RETURN(met, Meet(values, Combine::kMax));
  if (place_.process != 0 || place_.thread != 0) return std::vector<std::vector<double>>{};
  return std::vector<std::vector<double>>(place_.processes, met);
}

}  // namespace nccl_tune::bench
