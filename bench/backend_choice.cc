// SPDX-License-Identifier: Apache-2.0
#include "bench/backend_choice.h"

#include <string_view>
#include <utility>

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

// How many GPUs the flags ask for, as they were written: "-t 2 -g 4".
std::string AskedFor(const ChoiceFacts& facts) {
  std::string text = facts.threads == 1 ? "" : "-t " + std::to_string(facts.threads);
  if (facts.gpus != 1) text += (text.empty() ? "-g " : " -g ") + std::to_string(facts.gpus);
  return text.empty() ? "-g 1" : text;
}

}  // namespace

Result<Choice> ChooseBackend(const ChoiceFacts& facts) {
  const Choice choice = facts.forced ? Choice{*facts.forced, "--backend"} : Own(facts);
  const int ranks = facts.threads * facts.gpus;
  if (choice.kind == BackendKind::kMpi) {
    if (ranks == 1) return choice;
    return Error{.code = Code::kInvalidInput,
                 .what = "the mpi backend (" + choice.reason + ") has one rank per process, in host memory",
                 .where = AskedFor(facts),
                 .hint = "Start more tasks instead: srun --ntasks-per-node=" + std::to_string(ranks) +
                         " where there was one per node."};
  }
  if (!facts.nccl_missing.empty()) {
    return Error{.code = Code::kUnsupported, .what = facts.nccl_missing, .where = "--backend nccl"};
  }
  if (facts.devices < 1) {
    return Error{.code = Code::kUnsupported, .what = facts.devices_why, .where = "--backend nccl"};
  }
  if (ranks > facts.devices) {
    return Error{.code = Code::kNotFound,
                 .what = "this process sees fewer GPUs",
                 .where = AskedFor(facts),
                 .seen = std::to_string(ranks),
                 .expected = "at most " + std::to_string(facts.devices)};
  }
  return choice;
}

std::vector<std::string> LeaveAside(Options& options) {
  std::vector<std::string> sentences;
  const auto leave = [&sentences](std::string flag, std::string_view why) {
    sentences.push_back(std::move(flag) + ": " + std::string(why) + ", measuring without it");
  };
  const auto with = [](std::string flag, int value) { return std::move(flag) + " " + std::to_string(value); };
  constexpr int kStandardCtas = 16;
  if (options.parallel_init) leave("-p 1", "a process has one rank in host memory and nothing to connect in parallel");
  if (options.null_stream) leave("-y 1", "host memory has no CUDA streams");
  if (options.graph_launches > 0) leave(with("-G", options.graph_launches), "host memory has no CUDA graphs");
  if (options.registration != Registration::kNone) {
    leave(with("-R", static_cast<int>(options.registration)), "MPI has no buffers to register with NCCL");
  }
  if (options.cta_policy) leave(with("-x", *options.cta_policy), "no CTA of a GPU takes part");
  if (options.device_implementation > 0) {
    leave(with("-D", options.device_implementation), "kernels of NCCL's device API run on GPUs only");
  }
  if (options.device_ctas != kStandardCtas) leave(with("-V", options.device_ctas), "no CTA of a GPU takes part");
  if (options.reports_memory) leave("-M 1", "no GPU memory is used");
  if (options.first_gpu) {
    leave("NCCL_TESTS_DEVICE=" + std::to_string(*options.first_gpu), "host memory has no GPUs to choose from");
  }
  if (!options.debug_file.empty()) leave("--nccl-debug", "NCCL takes no part");
  if (options.profile) leave("--nvtx", "only the nccl backend marks its calls");
  const Options standard;
  options.parallel_init = standard.parallel_init;
  options.null_stream = standard.null_stream;
  options.graph_launches = standard.graph_launches;
  options.registration = standard.registration;
  options.cta_policy = standard.cta_policy;
  options.device_implementation = standard.device_implementation;
  options.device_ctas = standard.device_ctas;
  options.reports_memory = standard.reports_memory;
  options.first_gpu = standard.first_gpu;
  options.debug_file = standard.debug_file;
  options.profile = standard.profile;
  return sentences;
}

}  // namespace nccl_tune::bench
