// SPDX-License-Identifier: Apache-2.0
#include "bench/flag_table.h"

#include <array>
#include <limits>

#include "base/parse_number.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Status;

Status SetSize(std::uint64_t& size, const std::string& text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(bytes, ParseSize(text));
  size = bytes;
  return base::Ok();
}

Status SetCount(int& count, int least, const std::string& text) {
  const auto number = base::ParseInteger<int>(text);
  if (!number.ok() || *number < least) {
    return Error{.code = Code::kInvalidInput,
                 .what = "bad value",
                 .seen = text,
                 .expected = "a whole number from " + std::to_string(least) + " on"};
  }
  count = *number;
  return base::Ok();
}

// One name of `table`, or all of them for "all".
template <typename Table, typename Values>
Status SetNames(const Table& table, Values& values, const std::string& text, std::string_view later) {
  values.clear();
  std::string valid;
  for (const auto& one : table) {
    if (text == "all" || text == one.name) {
      if constexpr (requires { one.type; }) {
        values.push_back(one.type);
      } else {
        values.push_back(one.op);
      }
    }
    valid += std::string(one.name) + ", ";
  }
  if (!values.empty()) return base::Ok();
  const bool known = !text.empty() && later.find(text) != std::string_view::npos && text.find(' ') == std::string::npos;
  return Error{.code = known ? Code::kUnsupported : Code::kInvalidInput,
               .what = known ? "not yet available" : "bad value",
               .seen = text,
               .expected = valid + "all"};
}

Status SetBackend(Options& options, const std::string& text) {
  if (text == "nccl" || text == "mpi") {
    options.backend = text == "nccl" ? BackendKind::kNccl : BackendKind::kMpi;
    return base::Ok();
  }
  return Error{.code = Code::kInvalidInput, .what = "bad value", .seen = text, .expected = "nccl or mpi"};
}

Status SetFactor(Options& options, const std::string& text) {
  int factor = 1;
  NCCL_TUNE_RETURN_IF_ERROR(SetCount(factor, 0, text));
  options.sweep.factor = static_cast<std::uint64_t>(factor);
  return base::Ok();
}

using Text = const std::string&;

constexpr std::array<Flag, 37> kFlags = {{
    {'b', "minbytes", "SIZE", "32M", "first size; K, M and G are powers of 1024",
     [](Options& o, Text v) { return SetSize(o.sweep.min_bytes, v); }},
    {'e', "maxbytes", "SIZE", "32M", "last size", [](Options& o, Text v) { return SetSize(o.sweep.max_bytes, v); }},
    {'i', "stepbytes", "SIZE", "1M", "difference between two sizes",
     [](Options& o, Text v) { return SetSize(o.sweep.step_bytes, v); }},
    {'f', "stepfactor", "N", "1", "factor between two sizes, instead of -i when more than 1", SetFactor},
    {'n', "iters", "N", "20", "timed iterations", [](Options& o, Text v) { return SetCount(o.iterations, 1, v); }},
    {'w', "warmup_iters", "N", "1", "untimed iterations before the table",
     [](Options& o, Text v) { return SetCount(o.warmup, 0, v); }},
    {'c', "check", "N", "1", "iterations whose data is checked; 0: none",
     [](Options& o, Text v) { return SetCount(o.checks, 0, v); }},
    {'g', "ngpus", "N", "1", "GPUs per process", [](Options& o, Text v) { return SetCount(o.gpus, 1, v); }},
    {'o', "op", "NAME", "sum", "sum, prod, max, min, avg or all",
     [](Options& o, Text v) { return SetNames(kOps, o.ops, v, "mulsum"); }},
    {'d', "datatype", "NAME", "float",
     "int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16 or all",
     [](Options& o, Text v) { return SetNames(kTypes, o.types, v, "f8e4m3 f8e5m2"); }},
    {0, "backend", "NAME", "", "nccl (GPU memory) or mpi (host memory); without it, nccl where there is a GPU",
     SetBackend},
    {'h', "help", "", "", "print this and end",
     [](Options& o, Text) {
       o.mode = Mode::kHelp;
       return base::Ok();
     }},
    {0, "version", "", "", "print the version and end",
     [](Options& o, Text) {
       o.mode = Mode::kVersion;
       return base::Ok();
     }},
    {'t', "nthreads", "N", "1", "", nullptr},
    {'m', "agg_iters", "N", "1", "", nullptr},
    {'N', "run_cycles", "N", "1", "", nullptr},
    {'p', "parallel_init", "N", "0", "", nullptr},
    {'r', "root", "N", "0", "", nullptr},
    {'z', "blocking", "N", "0", "", nullptr},
    {'y', "stream_null", "N", "0", "", nullptr},
    {'T', "timeout", "N", "0", "", nullptr},
    {'G', "cudagraph", "N", "0", "", nullptr},
    {'C', "report_cputime", "N", "0", "", nullptr},
    {'S', "report_timestamps", "N", "0", "", nullptr},
    {'J', "output_file", "FILE", "", "", nullptr},
    {'a', "average", "N", "1", "", nullptr},
    {'R', "local_register", "N", "0", "", nullptr},
    {'x', "cta_policy", "N", "", "", nullptr},
    {'D', "device_implementation", "N", "0", "", nullptr},
    {'V', "device_cta_count", "N", "16", "", nullptr},
    {'M', "memory", "N", "0", "", nullptr},
    {'u', "unalign", "N", "0", "", nullptr},
    {'I', "per_iter_timing", "N", "0", "", nullptr},
    {'K', "per_iter_skip", "N", "0", "", nullptr},
    {0, "json", "FILE", "", "", nullptr},
    {0, "csv", "FILE", "", "", nullptr},
    {0, "adaptive", "N", "", "", nullptr},
}};

}  // namespace

std::span<const Flag> Flags() { return kFlags; }

std::string FlagNames(const Flag& flag) {
  const std::string name = "--" + std::string(flag.name);
  return flag.letter == 0 ? name : std::string("-") + flag.letter + ", " + name;
}

}  // namespace nccl_tune::bench
