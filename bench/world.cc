// SPDX-License-Identifier: Apache-2.0
#include "bench/world.h"

#include <optional>
#include <string>

#include "base/parse_number.h"
#include "pmix/step.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Environment;
using base::Error;
using base::Result;

constexpr const char* kRightLine = "Start it with: srun --mpi=pmix nccl-bench COLLECTIVE [options]";

base::Status ReadNumber(const Environment& environment, const std::string& name, std::uint64_t& number) {
  const auto text = base::Lookup(environment, name);
  const auto read = base::ParseInteger<std::uint64_t>(text.value_or(""));
  if (!read.ok()) {
    return Error{.code = Code::kInvalidInput, .what = "not a number", .where = name, .seen = text.value_or("")};
  }
  number = *read;
  return base::Ok();
}

Result<World> ReadMpirun(const Environment& environment) {
  World world{.starter = Starter::kMpirun, .has_pmix = true};
  NCCL_TUNE_RETURN_IF_ERROR(ReadNumber(environment, "OMPI_COMM_WORLD_RANK", world.rank));
  NCCL_TUNE_RETURN_IF_ERROR(ReadNumber(environment, "OMPI_COMM_WORLD_SIZE", world.size));
  NCCL_TUNE_RETURN_IF_ERROR(ReadNumber(environment, "OMPI_COMM_WORLD_LOCAL_RANK", world.local_rank));
  NCCL_TUNE_RETURN_IF_ERROR(ReadNumber(environment, "OMPI_COMM_WORLD_LOCAL_SIZE", world.local_size));
  return world;
}

}  // namespace

Result<World> ReadWorld(const Environment& environment) {
  const std::string space = base::Lookup(environment, "PMIX_NAMESPACE").value_or("");
  // An mpirun inside a Slurm step: its tasks inherit the step's SLURM_* but have a name space of their own.
  if (environment.contains("OMPI_COMM_WORLD_SIZE") && !space.empty() && !space.starts_with("slurm.pmix.")) {
    return ReadMpirun(environment);
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(step, pmix::ReadStep(environment));
  const pmix::PmixCheck check = pmix::CheckPmix(environment, step ? &*step : nullptr);
  if (check.state == pmix::PmixState::kInherited) {
    return Error{.code = Code::kForbidden,
                 .what = "the PMIX_* variables are those of an outer step: " + check.why,
                 .hint = kRightLine};
  }
  World world{.has_pmix = check.state == pmix::PmixState::kUsable};
  if (!step) return world;
  world.starter = Starter::kSlurm;
  world.rank = step->rank;
  world.size = step->size;
  world.local_rank = step->local_rank;
  world.local_size = step->local_size;
  return world;
}

base::Status CheckStart(const World& world, BackendKind backend) {
  if (world.starter != Starter::kSlurm || world.has_pmix) return base::Ok();
  // Open MPI refuses to start under srun without PMIx, even alone.
  if (world.size == 1 && backend == BackendKind::kNccl) return base::Ok();
  return Error{.code = Code::kInvalidInput,
               .what = "this step of " + std::to_string(world.size) +
                       " tasks was started without --mpi=pmix: they cannot find each other",
               .hint = kRightLine};
}

std::optional<std::string> WhyAlone(const World& world, const Environment& environment) {
  // A task of a step is as many as srun was told.
  if (world.starter != Starter::kNobody || !environment.contains("SLURM_JOB_ID")) return std::nullopt;
  for (const char* const name : {"SLURM_JOB_NUM_NODES", "SLURM_NTASKS"}) {
    const auto count = base::ParseInteger<std::uint64_t>(base::Lookup(environment, name).value_or(""));
    if (!count.ok() || *count < 2) continue;
    return "one process alone, though " + std::string(name) + " is " + std::to_string(*count) + ". " + kRightLine;
  }
  return std::nullopt;
}

}  // namespace nccl_tune::bench
