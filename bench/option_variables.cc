// SPDX-License-Identifier: Apache-2.0
#include "bench/option_variables.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/parse_number.h"
#include "bench/flag_value.h"
#include "bench/split.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using base::Error;
using base::Status;

constexpr std::array<Variable, 10> kVariables = {{
    {"NCCL_TESTS_DEVICE", "N", "first GPU of the process, instead of its number on the node times its GPUs"},
    {"NCCL_TESTS_MIN_BW", "GBPS", "end with 7 when the average busbw is under nine tenths of it, in GB/s"},
    {"NCCL_TESTS_SPLIT", "OP N",
     "groups that measure at once: process OP N is the group, OP one of AND OR MOD DIV & | % /, N decimal, 0x or 0b"},
    {"NCCL_TESTS_SPLIT_MASK", "HEX", "the same as AND with a hexadecimal number; goes over NCCL_TESTS_SPLIT"},
    {"NCCL_TESTS_ALLTOALLV_SPREAD", "X", "alltoallv: 0 equal parts to 1 parts by the distance of the ranks (1)"},
    {"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", "FILE", "alltoallv: bytes from rank (row) to rank (column), instead of that"},
    {"NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "X", "alltoallv: factor for the numbers of the file (1)"},
    {"NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", "0|1", "alltoallv: list what each rank sends and receives (0)"},
    {"NCCL_BENCH_NCCL_LIB", "FILE", "the NCCL to measure, instead of the libnccl.so.2 that the loader finds"},
    {"NCCL_BENCH_TEST_CORRUPT", "RANK:OFFSET", "for tests of the data check: spoil that element of that rank's result"},
}};

std::optional<std::string> Value(const Environment& environment, std::string_view name) {
  auto text = base::Lookup(environment, name);
  if (text && text->empty()) text.reset();
  return text;
}

Error About(std::string_view name, Error error, std::string_view hint) {
  error.where = name;
  error.hint = hint;
  return error;
}

Status ReadFirstGpu(const Environment& environment, Options& options) {
  const auto text = Value(environment, "NCCL_TESTS_DEVICE");
  if (!text) return base::Ok();
  const auto number = ParseCount(*text, kFromZero);
  if (!number.ok()) {
    return About("NCCL_TESTS_DEVICE", BadValue(*text, "the number of a GPU, from 0 on"),
                 "Give one that `nvidia-smi -L` lists, or unset it: each task then takes the next GPU of its node.");
  }
  options.first_gpu = *number;
  return base::Ok();
}

Status ReadLeastAverage(const Environment& environment, Options& options) {
  const auto text = Value(environment, "NCCL_TESTS_MIN_BW");
  if (!text) return base::Ok();
  const auto number = ParseRealFrom(0, *text, "GB/s, a number from 0 on");
  if (!number.ok()) {
    return About("NCCL_TESTS_MIN_BW", number.error(), "Give it without a unit, with a point: NCCL_TESTS_MIN_BW=2.5.");
  }
  options.least_average = *number;
  return base::Ok();
}

Status ReadSplit(const Environment& environment, Options& options) {
  const auto mask = Value(environment, "NCCL_TESTS_SPLIT_MASK");
  const auto text = Value(environment, "NCCL_TESTS_SPLIT");
  if (!mask && !text) return base::Ok();
  const char* const name = mask ? "NCCL_TESTS_SPLIT_MASK" : "NCCL_TESTS_SPLIT";
  if (options.mode != Mode::kMeasure) {
    options.warnings.push_back(std::string(name) + ": a search for slow nodes makes its own groups, ignoring it");
    return base::Ok();
  }
  const auto split = mask ? ParseSplitMask(*mask) : ParseSplit(*text);
  if (!split.ok()) {
    return About(name, split.error(),
                 mask ? "A task's group is its number AND the mask: 1 makes two groups, of even and of odd tasks."
                      : "\"MOD 8\" puts every eighth task into a group, \"DIV 8\" eight that follow each other.");
  }
  options.split = *split;
  return base::Ok();
}

Status ReadSpread(const Environment& environment, Options& options) {
  constexpr const char* kName = "NCCL_TESTS_ALLTOALLV_SPREAD";
  const auto text = Value(environment, kName);
  if (!text) return base::Ok();
  const auto spread = ParseReal(*text);
  if (!spread.ok()) {
    return About(kName, BadValue(*text, "a number from 0 to 1"),
                 "0 is equal parts for all ranks, 1 (also when it is unset) parts by their distance.");
  }
  const double taken = std::clamp(*spread, 0.0, 1.0);
  if (taken != *spread) {
    options.warnings.push_back(std::string(kName) + "=" + base::Printable(*text) + ": not from 0 to 1, taking " +
                               (taken > 0 ? "1" : "0"));
  }
  options.traffic = Traffic(taken);
  return base::Ok();
}

Status ReadAlltoallv(const Environment& environment, Options& options) {
  if (options.collective->kind != CollectiveKind::kAlltoallv) return base::Ok();
  NCCL_TUNE_RETURN_IF_ERROR(ReadSpread(environment, options));
  options.matrix_file = Value(environment, "NCCL_TESTS_ALLTOALLV_MATRIX_FILE").value_or("");
  if (const auto text = Value(environment, "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE")) {
    constexpr const char* kName = "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE";
    const auto scale = ParseRealFrom(0, *text, "a finite number from 0 on");
    if (!scale.ok()) {
      return About(kName, scale.error(),
                   "Every number of the matrix is multiplied by it: 0.5 halves them; unset, they stay.");
    }
    if (options.matrix_file.empty()) {
      options.warnings.push_back(std::string(kName) +
                                 ": there is no NCCL_TESTS_ALLTOALLV_MATRIX_FILE to scale, ignoring it");
    }
    options.matrix_scale = *scale;
  }
  if (const auto text = Value(environment, "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY")) {
    const auto wanted = ParseCount(*text, kSwitch);
    if (!wanted.ok()) {
      return About("NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", wanted.error(),
                   "1 lists what each rank sends and receives, 0 does not.");
    }
    options.summarises_ranks = *wanted != 0;
  }
  return base::Ok();
}

Status ReadCorruption(const Environment& environment, Options& options) {
  const auto text = Value(environment, "NCCL_BENCH_TEST_CORRUPT");
  if (!text) return base::Ok();
  const std::string_view whole = *text;
  const std::size_t colon = std::min(whole.find(':'), whole.size());
  const auto rank = base::ParseInteger<std::uint64_t>(whole.substr(0, colon));
  const auto offset = base::ParseInteger<std::uint64_t>(whole.substr(std::min(colon + 1, whole.size())));
  if (!rank.ok() || !offset.ok()) {
    return About("NCCL_BENCH_TEST_CORRUPT", BadValue(whole, "RANK:OFFSET"),
                 "It spoils a result, for tests: 1:5 element 5 of rank 1; unset it to measure.");
  }
  options.corruption = Corruption{.rank = *rank, .offset = *offset};
  return base::Ok();
}

}  // namespace

Status ReadVariables(const Environment& environment, Options& options) {
  NCCL_TUNE_RETURN_IF_ERROR(ReadFirstGpu(environment, options));
  NCCL_TUNE_RETURN_IF_ERROR(ReadLeastAverage(environment, options));
  NCCL_TUNE_RETURN_IF_ERROR(ReadSplit(environment, options));
  NCCL_TUNE_RETURN_IF_ERROR(ReadAlltoallv(environment, options));
  return ReadCorruption(environment, options);
}

std::span<const Variable> Variables() { return kVariables; }

}  // namespace nccl_tune::bench
