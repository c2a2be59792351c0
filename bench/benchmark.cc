// SPDX-License-Identifier: Apache-2.0
#include "bench/benchmark.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/version.h"
#include "bench/measure.h"
#include "bench/sizes.h"
#include "bench/table.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr double kEnough = 0.9;  // of NCCL_TESTS_MIN_BW, as in nccl-tests

struct Totals {
  double wrong = 0;
  double bandwidth = 0;
  std::uint64_t blocks = 0;
};

class Run {
 public:
  Run(Backend& backend, const Options& options, std::ostream& out, std::ostream& notes)
      : backend_(backend), options_(options), out_(out), notes_(notes) {}

  Result<bool> All() {
    NCCL_TUNE_ASSIGN_OR_RETURN(place, backend_.Connect());
    place_ = place;
    NCCL_TUNE_RETURN_IF_ERROR(Header());
    NCCL_TUNE_RETURN_IF_ERROR(Prepare());
    Print(ColumnText());
    for (const DataType type : options_.types) {
      for (const ReduceOp op : options_.ops) NCCL_TUNE_RETURN_IF_ERROR(Table(type, op));
    }
    return Footer();
  }

 private:
  void Print(const std::string& text) {
    if (place_.process == 0) out_ << text << std::flush;
  }

  std::string Program() const { return std::string(options_.collective->name) + "_perf"; }

  Status Header() {
    const Identity identity = backend_.identity();
    const HeaderFacts facts{.headers_code = identity.headers_code,
                            .library_code = identity.library_code,
                            .own_line = "nccl-bench " + std::string(base::kVersion) + " backend " + identity.label,
                            .program = Program(),
                            .gpus = options_.gpus,
                            .sweep = options_.sweep,
                            .warmup = options_.warmup,
                            .iterations = options_.iterations,
                            .checks = options_.checks};
    std::string own;
    for (const Device& device : backend_.LocalDevices()) own += DeviceLine(device);
    NCCL_TUNE_ASSIGN_OR_RETURN(all, backend_.Gather(own));
    Print(HeaderText(facts));
    for (const std::string& lines : all) Print(lines);
    return base::Ok();
  }

  // Cuts the sizes to the memory and allocates.
  Status Prepare() {
    NCCL_TUNE_ASSIGN_OR_RETURN(memory, backend_.Memory());
    const std::uint64_t largest = LargestSize(memory, options_.checks > 0);
    std::optional<std::uint64_t> cut;
    if (options_.sweep.max_bytes > largest) cut = options_.sweep.max_bytes = largest;
    Print(MemoryCutText(cut));
    if (options_.sweep.min_bytes > options_.sweep.max_bytes) {
      return Error{.code = Code::kUnsupported,
                   .what = "the memory allows at most " + std::to_string(largest) + " bytes",
                   .where = "-b",
                   .seen = std::to_string(options_.sweep.min_bytes)};
    }
    const Extent extent = options_.collective->extent(options_.sweep.max_bytes, 1, place_.ranks);
    return backend_.Allocate(extent.send_bytes, extent.receive_bytes);
  }

  Status Table(DataType type, ReduceOp op) {
    NCCL_TUNE_RETURN_IF_ERROR(WarmUp(backend_, place_, options_, type, op));
    for (const std::uint64_t size : SizesOf(options_.sweep)) {
      const Extent extent = options_.collective->extent(size, BytesOf(type), place_.ranks);
      Print(RowText({.bytes = std::max(extent.send_bytes, extent.receive_bytes),
                     .count = extent.count,
                     .type = NameOf(type),
                     .op = NameOf(op)}));
      Call call{.kind = options_.collective->kind, .type = type, .op = op, .count = extent.count};
      NCCL_TUNE_RETURN_IF_ERROR(Cell(call));
      call.in_place = true;
      NCCL_TUNE_RETURN_IF_ERROR(Cell(call));
      Print("\n");
    }
    return base::Ok();
  }

  Status Cell(const Call& call) {
    NCCL_TUNE_ASSIGN_OR_RETURN(measured, MeasureBlock(backend_, place_, options_, call));
    Print(BlockText(measured.block));
    for (const std::string& fault : measured.faults) {
      // One write, so that the lines of several processes do not mix.
      notes_ << ("nccl-bench: wrong data: " + std::string(options_.collective->name) + " of " +
                 std::to_string(call.count) + " " + std::string(NameOf(call.type)) + " " +
                 std::string(NameOf(call.op)) + (call.in_place ? " in place: " : " out of place: ") + fault + "\n")
             << std::flush;
    }
    totals_.wrong += measured.block.wrong.value_or(0);
    totals_.bandwidth += measured.block.bus_bandwidth;
    ++totals_.blocks;
    return base::Ok();
  }

  Result<bool> Footer() {
    const double average = totals_.blocks > 0 ? totals_.bandwidth / static_cast<double>(totals_.blocks) : 0;
    FooterFacts facts{
        .wrong = static_cast<std::uint64_t>(totals_.wrong), .average_bandwidth = average, .program = Program()};
    if (options_.least_bandwidth) facts.enough = average >= kEnough * *options_.least_bandwidth;
    Print(FooterText(facts));
    return totals_.wrong == 0 && facts.enough.value_or(true);
  }

  Backend& backend_;
  Options options_;  // the sizes are cut to the memory
  std::ostream& out_;
  std::ostream& notes_;
  Place place_{};
  Totals totals_{};
};

}  // namespace

Result<bool> RunBenchmark(Backend& backend, const Options& options, std::ostream& out, std::ostream& notes) {
  return Run(backend, options, out, notes).All();
}

}  // namespace nccl_tune::bench
