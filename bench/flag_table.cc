// SPDX-License-Identifier: Apache-2.0
#include "bench/flag_table.h"

#include <array>

#include "bench/flag_value.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Status;
using Text = const std::string&;

Status SetSize(std::uint64_t& size, Text text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(bytes, ParseSize(text));
  size = bytes;
  return base::Ok();
}

// `number` is an int, a bool, an enumeration or an optional of these.
template <typename Number>
Status SetCount(Number& number, Range range, Text text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(count, ParseCount(text, range));
  number = static_cast<Number>(count);
  return base::Ok();
}

Status SetSwitch(bool& is_on, Text text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(count, ParseCount(text, kSwitch));
  is_on = count != 0;
  return base::Ok();
}

Status SetFile(std::string& name, Text text) {
  if (text.empty()) return BadValue(text, "the name of a file");
  name = text;
  return base::Ok();
}

Status SetFlag(bool& is_on) {
  is_on = true;
  return base::Ok();
}

Status SetMode(Mode& mode, Mode wanted) {
  mode = wanted;
  return base::Ok();
}

// One name of `table`, or all of them for "all".
template <typename Table, typename Values>
Status SetNames(const Table& table, Values& values, bool& is_all, Text text) {
  Values found;
  std::string valid;
  for (const auto& one : table) {
    if (text == "all" || text == one.name) {
      if constexpr (requires { one.type; }) {
        found.push_back(one.type);
      } else {
        found.push_back(one.op);
      }
    }
    valid += std::string(one.name) + ", ";
  }
  if (found.empty()) return BadValue(text, valid + "all");
  is_all = text == "all";
  values = std::move(found);
  return base::Ok();
}

Status SetRoot(std::optional<std::uint64_t>& root, Text text) {
  const auto number = ParseCount(text, {.least = -1});
  if (!number.ok() && text != "all") return BadValue(text, "a rank, or all (-1)");
  if (text == "all" || *number < 0) {
    root.reset();
  } else {
    root = static_cast<std::uint64_t>(*number);
  }
  return base::Ok();
}

Status SetBackend(std::optional<BackendKind>& backend, Text text) {
  if (text != "nccl" && text != "mpi") return BadValue(text, "nccl or mpi");
  backend = text == "nccl" ? BackendKind::kNccl : BackendKind::kMpi;
  return base::Ok();
}

Status SetAdaptiveSeconds(Asked& asked, Text text) {
  constexpr double kLeast = 0.001;
  NCCL_TUNE_ASSIGN_OR_RETURN(seconds, ParseRealFrom(kLeast, text, "seconds, 0.001 or more"));
  asked.options.adaptive_seconds = seconds;
  asked.has_adaptive_seconds = true;
  return base::Ok();
}

constexpr FlagOrigin kTheirs = FlagOrigin::kNcclTests;
constexpr FlagOrigin kOurs = FlagOrigin::kOwn;
constexpr int kMostRanks = 1024;  // of one process: no host has more GPUs

constexpr std::array<Flag, 42> kFlags = {{
    {'t', "nthreads", "N", "1", "threads per process", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.threads, {.least = 1, .most = kMostRanks}, v); }},
    {'g', "ngpus", "N", "1", "GPUs per thread; ranks = processes x threads x GPUs", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.gpus, {.least = 1, .most = kMostRanks}, v); }},
    {'b', "minbytes", "SIZE", "32M", "first size; K, M and G are powers of 1024", kTheirs,
     [](Asked& a, Text v) {
       a.has_min_bytes = true;
       return SetSize(a.options.sweep.min_bytes, v);
     }},
    {'e', "maxbytes", "SIZE", "32M", "last size", kTheirs,
     [](Asked& a, Text v) {
       a.has_max_bytes = true;
       return SetSize(a.options.sweep.max_bytes, v);
     }},
    {'i', "stepbytes", "SIZE", "1M", "difference between two sizes", kTheirs,
     [](Asked& a, Text v) { return SetSize(a.options.sweep.step_bytes, v); }},
    {'f', "stepfactor", "N", "1", "factor between two sizes, instead of -i when more than 1", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.sweep.factor, kFromZero, v); }},
    {'n', "iters", "N", "20", "timed iterations", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.iterations, kFromOne, v); }},
    {'m', "agg_iters", "N", "1", "operations that go out together in each iteration", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.aggregated, kFromOne, v); }},
    {'w', "warmup_iters", "N", "1", "untimed iterations of each size before the table", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.warmup, kFromZero, v); }},
    {'N', "run_cycles", "N", "1", "repetitions of the whole table; 0: for ever", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.cycles, kFromZero, v); }},
    {'p', "parallel_init", "0|1", "0", "each thread connects its own GPUs", kTheirs,
     [](Asked& a, Text v) { return SetSwitch(a.options.parallel_init, v); }},
    {'c', "check", "N", "1", "iterations whose data is checked; 0: none", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.checks, kFromZero, v); }},
    {'o', "op", "NAME", "sum", "sum, prod, max, min, avg, mulsum or all", kTheirs,
     [](Asked& a, Text v) { return SetNames(kOps, a.options.ops, a.options.all_ops, v); }},
    {'d', "datatype", "NAME", "float",
     "int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, f8e4m3, f8e5m2 or all", kTheirs,
     [](Asked& a, Text v) { return SetNames(kTypes, a.options.types, a.options.all_types, v); }},
    {'r', "root", "RANK", "0", "root; all or -1: each rank in turn", kTheirs,
     [](Asked& a, Text v) { return SetRoot(a.options.root, v); }},
    {'z', "blocking", "0..3", "0",
     "1: wait and barrier after each operation; 2: wait only; 3: after each iteration, the barrier not timed", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.blocking, {.least = 0, .most = 3}, v); }},
    {'y', "stream_null", "0|1", "0", "use CUDA's NULL stream", kTheirs,
     [](Asked& a, Text v) { return SetSwitch(a.options.null_stream, v); }},
    {'T', "timeout", "SECONDS", "0", "end the run, with 4, when a test takes longer; 0: never", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.timeout_seconds, kFromZero, v); }},
    {'G', "cudagraph", "N", "0", "record the iterations as a CUDA graph and launch it N times", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.graph_launches, kFromZero, v); }},
    {'C', "report_cputime", "0|1", "0", "report the CPU time of the calls instead of the latency", kTheirs,
     [](Asked& a, Text v) { return SetSwitch(a.options.reports_cpu_time, v); }},
    {'S', "report_timestamps", "0|1", "0", "a column with the time of day", kTheirs,
     [](Asked& a, Text v) { return SetSwitch(a.options.reports_timestamps, v); }},
    {'J', "output_file", "FILE", "", "write a JSON report to FILE, whose name must end in .json", kTheirs,
     [](Asked& a, Text v) { return SetFile(a.output_file, v); }},
    {'a', "average", "0..3", "1", "time over the processes: 0 the first's, 1 mean, 2 least, 3 greatest", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.average, {.least = 0, .most = 3}, v); }},
    {'R', "local_register", "0..2", "0", "1: register the buffers; 2: as symmetric windows (NCCL 2.27)", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.registration, {.least = 0, .most = 2}, v); }},
    {'x', "cta_policy", "0..2", "", "NCCL's CTA policy: 0 default, 1 efficiency (NCCL 2.27), 2 zero CTAs (2.28)",
     kTheirs, [](Asked& a, Text v) { return SetCount(a.options.cta_policy, {.least = 0, .most = 2}, v); }},
    {'D', "device_implementation", "N", "0",
     "kernel of NCCL's device API instead of the collective: 1 to 4, all_reduce and alltoall only, with -R 2 (NCCL "
     "2.28)",
     kTheirs, [](Asked& a, Text v) { return SetCount(a.options.device_implementation, kFromZero, v); }},
    {'V', "device_cta_count", "N", "16", "CTAs for -D, 1 to 128", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.device_ctas, kAny, v); }},
    {'M', "memory", "0|1", "0", "report the GPU memory in use after the table", kTheirs,
     [](Asked& a, Text v) { return SetSwitch(a.options.reports_memory, v); }},
    {'u', "unalign", "N", "0", "shift the buffers by N elements", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.options.unaligned, kFromZero, v); }},
    {'I', "per_iter_timing", "0|1", "0", "time each iteration; four more columns per block", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.per_iteration, kAny, v); }},
    {'K', "per_iter_skip", "N", "0", "leave the first N iterations out of what -I sums up", kTheirs,
     [](Asked& a, Text v) { return SetCount(a.skipped, kAny, v); }},
    {'h', "help", "", "", "print this and end", kTheirs,
     [](Asked& a, Text) { return SetMode(a.options.mode, Mode::kHelp); }},
    {0, "backend", "NAME", "", "nccl (GPU memory) or mpi (host memory); without it, nccl where there is a GPU", kOurs,
     [](Asked& a, Text v) { return SetBackend(a.options.backend, v); }},
    {0, "json", "FILE", "", "write a JSON report to FILE, whatever its name", kOurs,
     [](Asked& a, Text v) { return SetFile(a.options.json_file, v); }},
    {0, "csv", "FILE", "", "write the table to FILE as CSV", kOurs,
     [](Asked& a, Text v) { return SetFile(a.options.csv_file, v); }},
    {0, "adaptive", "", "", "as many iterations as it takes until the median is known to 1 %", kOurs,
     [](Asked& a, Text) { return SetFlag(a.options.adaptive); }},
    {0, "adaptive-seconds", "S", "10", "at most so long per block of --adaptive", kOurs, SetAdaptiveSeconds},
    {0, "min-busbw", "GBPS", "", "end with 7 when no row reaches this busbw, in GB/s", kOurs,
     [](Asked& a, Text v) -> Status {
       NCCL_TUNE_ASSIGN_OR_RETURN(least, ParseRealFrom(0, v, "GB/s"));
       a.options.least_busbw = least;
       return base::Ok();
     }},
    {0, "per-rail", "", "", "measure each rail alone, slow ones again; of FILE.json each has FILE.RAIL.json", kOurs,
     [](Asked& a, Text) { return SetFlag(a.options.per_rail); }},
    {0, "nvtx", "", "", "mark sizes and iterations with NVTX ranges, for a profiler", kOurs,
     [](Asked& a, Text) { return SetFlag(a.options.profile); }},
    {0, "nccl-debug", "FILE", "", "write what NCCL_DEBUG asks for to FILE instead of standard output", kOurs,
     [](Asked& a, Text v) { return SetFile(a.options.debug_file, v); }},
    {0, "version", "", "", "print the version and end", kOurs,
     [](Asked& a, Text) { return SetMode(a.options.mode, Mode::kVersion); }},
}};

}  // namespace

std::span<const Flag> Flags() { return kFlags; }

std::string FlagNames(const Flag& flag) {
  const std::string name = "--" + std::string(flag.name);
  return flag.letter == 0 ? name : std::string("-") + flag.letter + ", " + name;
}

}  // namespace nccl_tune::bench
