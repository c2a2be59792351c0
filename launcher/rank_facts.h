// SPDX-License-Identifier: Apache-2.0
//
// What one rank is, however it was found out: by PMIx, by SLURM_* alone, or as one of several that a task forks.
#ifndef NCCL_TUNE_LAUNCHER_RANK_FACTS_H_
#define NCCL_TUNE_LAUNCHER_RANK_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace nccl_tune::launcher {

struct RankFacts {
  std::string job{};   // SLURM_JOB_ID
  std::string step{};  // SLURM_STEP_ID
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 1;
  std::uint32_t node_rank = 0;
  std::uint32_t node_count = 1;
  std::string master_address{};  // name or IP address, an IPv6 one without brackets
  std::uint16_t master_port = 0;
  std::uint32_t restart_count = 0;  // how often Slurm has requeued the job
  // Which of the GPUs that the rank sees is its own, where the launcher has placed it.
  std::optional<std::uint32_t> device{};
};

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_RANK_FACTS_H_
