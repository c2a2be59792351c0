// SPDX-License-Identifier: Apache-2.0
#include "bench/benchmark.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/common_start.h"
#include "bench/measure.h"
#include "bench/sizes.h"
#include "bench/table.h"
#include "bench/table_plan.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

// Only the leader's are complete.
struct Totals {
  std::uint64_t wrong_blocks = 0;  // of this worker, as nccl-tests counts
  bool all_right = true;           // over all workers
};

class Run {
 public:
  Run(const RunParts& parts, Options options) : parts_(parts), options_(std::move(options)) {}

  Result<Outcome> All() {
    Backend& backend = *parts_.backend;
    NCCL_TUNE_ASSIGN_OR_RETURN(place, backend.Connect());
    place_ = place;
    identity_ = backend.identity();
    NCCL_TUNE_ASSIGN_OR_RETURN(decision, AgreeOnStart(backend, options_, place_, parts_.refusal));
    if (!decision.refusal.empty()) return Refused({.code = Code::kInvalidInput, .what = decision.refusal});
    skipped_ = decision.skips;
    NCCL_TUNE_RETURN_IF_ERROR(CheckAbilities(options_, identity_));
    NCCL_TUNE_RETURN_IF_ERROR(Header());
    NCCL_TUNE_RETURN_IF_ERROR(Fit());
    NCCL_TUNE_RETURN_IF_ERROR(backend.Join(options_.sweep.max_bytes));
    if (Leads()) parts_.reporter->Columns();
    NCCL_TUNE_RETURN_IF_ERROR(Workers());
    return Footer();
  }

 private:
  bool Leads() const { return place_.process == 0; }
  Outcome Refused(const Error& error) const { return {.place = place_, .refused = error}; }

  Status Header() {
    NCCL_TUNE_ASSIGN_OR_RETURN(texts, GatherDevices(*parts_.backend));
    return Leads() ? parts_.reporter->Header(identity_, texts) : base::Ok();
  }

  Status Fit() {
    NCCL_TUNE_ASSIGN_OR_RETURN(largest, CutToMemory(*parts_.backend, options_));
    if (largest && Leads()) parts_.reporter->MemoryCut(*largest);
    return base::Ok();
  }

  // One thread per worker; this one is worker 0's.
  Status Workers() {
    const auto count = static_cast<std::size_t>(options_.threads);
    totals_.resize(count);
    if (count == 1) return Sweeps(0);
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back([this, i] { Worked(Sweeps(i)); });
    Worked(Sweeps(0));
    for (std::thread& thread : threads) thread.join();
    return first_failure_ ? Status(*first_failure_) : base::Ok();
  }

  // The others may wait for this worker for ever.
  void Worked(const Status& status) {
    if (status.ok()) return;
    {
      const std::lock_guard lock(failure_mutex_);
      if (first_failure_) return;
      first_failure_ = status.error();
    }
    parts_.on_failure(status.error());
  }

  Status Sweeps(std::size_t thread) {
    Lane lane{.worker = &parts_.backend->worker(thread),
              .options = &options_,
              .ranks = place_.ranks,
              .workers = place_.processes * static_cast<std::uint64_t>(options_.threads),
              .leads = Leads() && thread == 0,
              .primes = identity_.primes};
    if (skipped_) {
      if (lane.leads) {
        parts_.reporter->Print("nRanks " + std::to_string(place_.ranks) + " is not a power of 2, skipping\n");
      }
      return base::Ok();
    }
    for (const DataType type : TypesOf(options_, identity_)) {
      for (const ReduceOp op : OpsOf(options_, identity_)) {
        if (options_.collective->reduces && Lacks(identity_, type, op)) continue;
        for (const std::uint64_t root : RootsOf(options_, place_.ranks)) {
          const Call call{
              .collective = options_.collective, .type = type, .op = op, .root = root, .traffic = &options_.traffic};
          NCCL_TUNE_RETURN_IF_ERROR(Table(lane, totals_[thread], call));
        }
      }
    }
    return base::Ok();
  }

  Status Table(Lane& lane, Totals& totals, const Call& call) {
    NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Barrier());
    NCCL_TUNE_RETURN_IF_ERROR(WarmUp(lane, options_.sweep, call));
    const std::vector<std::uint64_t> sizes = SizesOf(options_.sweep);
    for (int cycle = 0; options_.cycles == 0 || cycle < options_.cycles; ++cycle) {
      for (const std::uint64_t size : sizes) NCCL_TUNE_RETURN_IF_ERROR(OneRow(lane, totals, call, size));
    }
    return base::Ok();
  }

  Status OneRow(Lane& lane, Totals& totals, Call call, std::uint64_t size) {
    const Question question{.elements = size / BytesOf(call.type),
                            .type_bytes = BytesOf(call.type),
                            .ranks = place_.ranks,
                            .traffic = call.traffic};
    call.shape = call.collective->shape(question);
    if (lane.leads) {
      const bool rooted = call.collective->has_root;
      parts_.reporter->BeginRow(
          {.bytes = std::max(call.shape.send_count, call.shape.receive_count) * question.type_bytes,
           .count = call.shape.count,
           .type = std::string(NameOf(call.type)),
           .op = std::string(call.collective->lists_ops ? NameOf(call.op) : call.collective->op_column),
           .root = rooted ? static_cast<int>(call.root) : -1});
    }
    for (const bool in_place : {false, true}) {
      call.in_place = in_place;
      NCCL_TUNE_ASSIGN_OR_RETURN(measured, MeasureBlock(lane, question, call));
      Tell(call, measured, totals);
      if (lane.leads && options_.summarises_ranks && call.collective->kind == CollectiveKind::kAlltoallv) {
        parts_.reporter->Print(TrafficText(Summary(call, question, measured.block)));
      }
      if (lane.leads) parts_.reporter->AddBlock(measured.block, in_place);
    }
    if (lane.leads) parts_.reporter->EndRow();
    return base::Ok();
  }

  void Tell(const Call& call, const Measured& measured, Totals& totals) {
    if (!measured.faults.empty()) ++totals.wrong_blocks;
    if (measured.block.wrong.value_or(0) != 0) totals.all_right = false;
    for (const std::string& fault : measured.faults) {
      parts_.reporter->Note("nccl-bench: wrong data: " + std::string(call.collective->name) + " of " +
                            std::to_string(call.shape.count) + " " + std::string(NameOf(call.type)) + " " +
                            std::string(NameOf(call.op)) + (call.in_place ? " in place: " : " out of place: ") + fault);
    }
  }

  TrafficSummary Summary(const Call& call, const Question& question, const Block& block) const {
    const Traffic& traffic = options_.traffic;
    const std::uint64_t total = call.shape.count * question.ranks * question.type_bytes;
    TrafficSummary summary{.is_matrix = traffic.is_matrix(),
                           .side = traffic.side(),
                           .scale = traffic.scale(),
                           .spread = traffic.spread(),
                           .total_bytes = total,
                           .seconds = block.microseconds / 1e6};
    for (std::uint64_t rank = 0; rank < question.ranks; ++rank) {
      RankTraffic one;
      for (std::uint64_t peer = 0; peer < question.ranks; ++peer) {
        one.sent += traffic.Bytes(rank, peer, question.ranks, total);
        one.received += traffic.Bytes(peer, rank, question.ranks, total);
      }
      summary.ranks.push_back(one);
    }
    return summary;
  }

  Result<Outcome> Footer() {
    double wrong = 0;
    Outcome outcome{.place = place_};
    for (const Totals& totals : totals_) {
      wrong += static_cast<double>(totals.wrong_blocks);
      outcome.right = outcome.right && totals.all_right;
    }
    NCCL_TUNE_ASSIGN_OR_RETURN(all_wrong, parts_.backend->Sum(wrong));
    std::optional<MemoryUse> memory;
    if (options_.reports_memory) {
      NCCL_TUNE_ASSIGN_OR_RETURN(use, parts_.backend->memory_use());
      memory = use;
    }
    if (Leads()) {
      parts_.reporter->Footer(static_cast<std::uint64_t>(all_wrong), memory, parts_.backend->LastError());
      outcome.enough = parts_.reporter->record().enough.value_or(true);
    }
    if (skipped_) {
      outcome.refused = Error{.code = Code::kInvalidInput,
                              .what = "hypercube needs a number of ranks that is a power of 2",
                              .seen = std::to_string(place_.ranks)};
    }
    return outcome;
  }

  RunParts parts_;
  Options options_;  // the sizes are cut to the memory
  Identity identity_{};
  Place place_{};
  std::vector<Totals> totals_{};
  bool skipped_ = false;  // a hypercube needs a power of 2
  std::mutex failure_mutex_{};
  std::optional<Error> first_failure_{};
};

}  // namespace

Result<Outcome> RunBenchmark(const RunParts& parts, Options options) { return Run(parts, std::move(options)).All(); }

}  // namespace nccl_tune::bench
