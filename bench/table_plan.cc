// SPDX-License-Identifier: Apache-2.0
#include "bench/table_plan.h"

#include <algorithm>
#include <string>
#include <utility>

namespace nccl_tune::bench {

using base::Code;
using base::Error;
using base::Status;

std::vector<DataType> TypesOf(const Options& options, const Identity& identity) {
  if (!options.all_types) return options.types;
  std::vector<DataType> types = options.types;
  std::erase_if(types, [&](DataType type) { return std::ranges::find(identity.types, type) == identity.types.end(); });
  return types;
}

std::vector<ReduceOp> OpsOf(const Options& options, const Identity& identity) {
  if (!options.collective->lists_ops) return {ReduceOp::kSum};
  if (!options.all_ops) return options.ops;
  std::vector<ReduceOp> ops = options.ops;
  std::erase_if(ops, [&](ReduceOp op) { return std::ranges::find(identity.ops, op) == identity.ops.end(); });
  return ops;
}

std::vector<std::uint64_t> RootsOf(const Options& options, std::uint64_t ranks) {
  if (!options.collective->has_root) return {0};
  if (options.root) return {*options.root};
  std::vector<std::uint64_t> roots;
  for (std::uint64_t root = 0; root < ranks; ++root) roots.push_back(root);
  return roots;
}

bool Lacks(const Identity& identity, DataType type, ReduceOp op) {
  return std::ranges::find(identity.lacking, std::pair{type, op}) != identity.lacking.end();
}

Status CheckAbilities(const Options& options, const Identity& identity) {
  for (const DataType type : TypesOf(options, identity)) {
    if (std::ranges::find(identity.types, type) != identity.types.end()) continue;
    return Error{.code = Code::kUnsupported,
                 .what = "not with these devices and this library",
                 .where = "-d",
                 .seen = std::string(NameOf(type)),
                 .hint = "f8e4m3 and f8e5m2 need NCCL 2.24 and GPUs of compute capability 9.0."};
  }
  for (const ReduceOp op : OpsOf(options, identity)) {
    if (std::ranges::find(identity.ops, op) != identity.ops.end()) continue;
    return Error{.code = Code::kUnsupported,
                 .what = "not with this library",
                 .where = "-o",
                 .seen = std::string(NameOf(op)),
                 .hint = "avg needs NCCL 2.10, mulsum 2.11."};
  }
  if (options.all_types || options.all_ops || !options.collective->reduces) return base::Ok();
  for (const auto& [type, op] : identity.lacking) {
    if (std::ranges::find(options.types, type) == options.types.end()) continue;
    if (std::ranges::find(options.ops, op) == options.ops.end()) continue;
    return Error{.code = Code::kInvalidInput,
                 .what = "this library has no " + std::string(NameOf(op)) + " of " + std::string(NameOf(type)),
                 .where = "-o",
                 .seen = std::string(NameOf(op))};
  }
  return base::Ok();
}

Status CheckRanks(const Options& options, std::uint64_t ranks) {
  if (options.collective->has_root && options.root && *options.root >= ranks) {
    return Error{.code = Code::kInvalidInput,
                 .what = "there is no such rank",
                 .where = "-r",
                 .seen = std::to_string(*options.root),
                 .expected = "a rank from 0 to " + std::to_string(ranks - 1) + ", or -1 for each in turn"};
  }
  if (options.corruption && options.corruption->rank >= ranks) {
    return Error{.code = Code::kInvalidInput,
                 .what = "there is no such rank",
                 .where = "NCCL_BENCH_TEST_CORRUPT",
                 .seen = std::to_string(options.corruption->rank)};
  }
  if (options.traffic.is_matrix() && options.traffic.side() < ranks) {
    return Error{.code = Code::kInvalidInput,
                 .what = "the matrix has fewer rows than there are ranks",
                 .where = options.matrix_file,
                 .seen = std::to_string(options.traffic.side()),
                 .expected = "at least " + std::to_string(ranks)};
  }
  return base::Ok();
}

Status CheckMatrix(const Options& options, std::uint64_t ranks) {
  if (options.collective->kind != CollectiveKind::kAlltoallv || !options.traffic.is_matrix()) return base::Ok();
  const Traffic::Most most = options.traffic.MostElements(1, ranks, 0);
  const std::uint64_t needed = std::max(most.sent, most.received);
  if (options.sweep.max_bytes >= needed && options.sweep.min_bytes == options.sweep.max_bytes) return base::Ok();
  return Error{.code = Code::kInvalidInput,
               .what = options.sweep.max_bytes < needed ? "is less than a rank of the matrix sends or receives"
                                                        : "the sizes come from the matrix: -b and -e must be equal",
               .where = "-e",
               .seen = std::to_string(options.sweep.max_bytes),
               .expected = "-b and -e of " + std::to_string(needed) + " or more, both the same"};
}

}  // namespace nccl_tune::bench
