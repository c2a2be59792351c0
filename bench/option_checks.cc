// SPDX-License-Identifier: Apache-2.0
#include "bench/option_checks.h"

#include <string>
#include <string_view>

#include "bench/result_file.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Status;

constexpr int kDeviceImplementations = 4;  // of all_reduce and of alltoall, nccl-tests 2.19.6
constexpr int kStandardCtas = 16;
constexpr int kMostCtas = 128;

std::string With(std::string_view flag, long long value) { return std::string(flag) + " " + std::to_string(value); }

// A search compares nodes by one size, large enough to fill the link, unless the user wants several.
void SettleSizes(Asked& asked) {
  constexpr std::uint64_t kSearched = 64U << 20U;
  Sweep& sweep = asked.options.sweep;
  if (asked.options.mode == Mode::kMeasure) return;
  if (!asked.has_min_bytes) sweep.min_bytes = asked.has_max_bytes ? sweep.max_bytes : kSearched;
  if (!asked.has_max_bytes) sweep.max_bytes = sweep.min_bytes;
}

void SettleReport(Asked& asked) {
  if (asked.output_file.empty()) return;
  Options& options = asked.options;
  const std::string flag = "-J " + base::Printable(asked.output_file) + ": ";
  if (!options.json_file.empty()) {
    options.warnings.push_back(flag + "ignoring it, --json is given too and its file is written");
  } else if (IsJsonName(asked.output_file)) {
    options.json_file = asked.output_file;
    options.json_may_fail = true;
  } else {
    options.warnings.push_back(flag +
                               "nothing will be written to it, only names in .json are known; --json takes any name");
  }
}

Status CheckDevice(const Options& options) {
  const int wanted = options.device_implementation;
  if (wanted == 0) return base::Ok();
  if (options.registration != Registration::kSymmetric) {
    return Error{.code = Code::kInvalidInput,
                 .what = "a device implementation needs buffers registered as symmetric windows",
                 .where = With("-D", wanted),
                 .seen = With("-R", static_cast<int>(options.registration)),
                 .expected = "-R 2"};
  }
  const CollectiveKind kind = options.collective->kind;
  const bool has_any = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAlltoall;
  if (has_any && wanted <= kDeviceImplementations) return base::Ok();
  return Error{.code = Code::kUnsupported,
               .what = "device implementation is not supported by " + std::string(options.collective->name),
               .where = "-D",
               .seen = std::to_string(wanted),
               .expected = "0" + (has_any ? " to " + std::to_string(kDeviceImplementations)
                                          : std::string(", only all_reduce and alltoall have others"))};
}

void SettleCtas(Asked& asked) {
  const int wanted = asked.device_ctas;
  const bool is_right = wanted >= 1 && wanted <= kMostCtas;
  asked.options.device_ctas = is_right ? wanted : kStandardCtas;
  if (!is_right) {
    asked.options.warnings.push_back(With("-V", wanted) + ": not from 1 to 128, taking the default, 16");
  }
}

// Each timed iteration keeps its time.
Status CheckIterationTimes(const Options& options) {
  constexpr int kMost = 1'000'000;
  if (!options.times_iterations || options.iterations <= kMost) return base::Ok();
  return Error{.code = Code::kInvalidInput,
               .what = "too many iterations to keep the time of each (-I)",
               .where = "-n",
               .seen = std::to_string(options.iterations),
               .expected = "at most " + std::to_string(kMost)};
}

void SettleIterationTimes(Asked& asked) {
  Options& options = asked.options;
  if (asked.per_iteration != 0 && asked.per_iteration != 1) {
    options.warnings.push_back(With("-I", asked.per_iteration) + ": not 0 or 1, ignoring it");
    asked.per_iteration = 0;
  }
  if (asked.per_iteration == 1 && options.graph_launches > 0) {
    options.warnings.push_back(With("-I 1 with -G", options.graph_launches) +
                               ": a CUDA graph has no single iterations to time, ignoring -I");
    asked.per_iteration = 0;
  }
  options.times_iterations = asked.per_iteration == 1;
}

void SettleBlocking(Options& options) {
  if (options.blocking != Blocking::kOuter || options.graph_launches == 0) return;
  options.warnings.push_back(With("-z 3 with -G", options.graph_launches) +
                             ": nothing can wait inside a CUDA graph, ignoring -z");
  options.blocking = Blocking::kNo;
}

void SettleSkipped(Asked& asked) {
  Options& options = asked.options;
  if (asked.skipped < 0 || asked.skipped >= options.iterations) {
    options.warnings.push_back(With("-K", asked.skipped) + ": not from 0 to " + std::to_string(options.iterations - 1) +
                               ", one less than -n, ignoring it");
    asked.skipped = 0;
  }
  if (asked.skipped != 0 && !options.times_iterations) {
    options.warnings.push_back(With("-K", asked.skipped) + ": has no meaning without -I 1, ignoring it");
    asked.skipped = 0;
  }
  options.skipped_iterations = asked.skipped;
}

}  // namespace

Status CheckFlags(Asked& asked) {
  SettleSizes(asked);
  NCCL_TUNE_RETURN_IF_ERROR(CheckSweep(asked.options.sweep));
  NCCL_TUNE_RETURN_IF_ERROR(CheckDevice(asked.options));
  SettleCtas(asked);
  SettleIterationTimes(asked);
  NCCL_TUNE_RETURN_IF_ERROR(CheckIterationTimes(asked.options));
  SettleBlocking(asked.options);
  SettleSkipped(asked);
  SettleReport(asked);
  if (asked.has_adaptive_seconds && !asked.options.adaptive) {
    asked.options.warnings.emplace_back("--adaptive-seconds has no meaning without --adaptive, ignoring it");
  }
  return base::Ok();
}

}  // namespace nccl_tune::bench
