// SPDX-License-Identifier: Apache-2.0
#include "bench/backend_choice.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;

Choice Own(const ChoiceFacts& facts) {
  if (!facts.nccl_missing.empty()) return {BackendKind::kMpi, facts.nccl_missing};
  if (facts.devices < 1) return {BackendKind::kMpi, facts.devices_why};
  return {BackendKind::kNccl, "there is a GPU"};
}

}  // namespace

Result<Choice> ChooseBackend(const ChoiceFacts& facts) {
  const Choice choice = facts.forced ? Choice{*facts.forced, "--backend"} : Own(facts);
  if (choice.kind == BackendKind::kMpi) {
    if (facts.gpus == 1) return choice;
    return Error{.code = Code::kInvalidInput,
                 .what = "the mpi backend (" + choice.reason + ") has one rank per process, in host memory",
                 .where = "-g",
                 .seen = std::to_string(facts.gpus),
                 .expected = "1"};
  }
  if (!facts.nccl_missing.empty()) {
    return Error{.code = Code::kUnsupported, .what = facts.nccl_missing, .where = "--backend nccl"};
  }
  if (facts.devices < 1) {
    return Error{.code = Code::kUnsupported, .what = facts.devices_why, .where = "--backend nccl"};
  }
  if (facts.gpus > facts.devices) {
    return Error{.code = Code::kInvalidInput,
                 .what = "this process sees fewer GPUs",
                 .where = "-g",
                 .seen = std::to_string(facts.gpus),
                 .expected = "at most " + std::to_string(facts.devices)};
  }
  return choice;
}

}  // namespace nccl_tune::bench
