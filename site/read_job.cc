// SPDX-License-Identifier: Apache-2.0
#include "site/read_job.h"

#include <utility>

#include "core/env/mpi_parameters.h"
#include "hw/read_conf_texts.h"

namespace nccl_tune::site {

nccl::SourcedEnvironment ReadSettings(const hw::Tree& tree, const base::Environment& environment,
                                      const nccl::NcclVersion& version, std::vector<facts::Note>* notes) {
  const auto places = nccl::FindConfPlaces(environment, version);
  for (const auto& remark : places.remarks) notes->push_back({.where = "environment", .what = remark});
  auto files = nccl::ParseConfFiles(places, hw::ReadConfTexts(tree, places.paths, notes), version);
  for (const auto& file : files) {
    for (const auto& remark : file.remarks) {
      const std::string line = remark.line == 0 ? "" : ":" + std::to_string(remark.line);
      notes->push_back({.where = file.path + line, .what = remark.what});
    }
  }
  const auto mpi_paths = env::MpiParameterPaths(environment);
  const auto mpi_texts = hw::ReadConfTexts(tree, mpi_paths, notes);
  for (const auto& path : mpi_paths) {
    const auto text = mpi_texts.find(path);
    if (text != mpi_texts.end()) files.push_back(env::ParseMpiParameters(path, text->second));
  }
  return nccl::MergeSettings(environment, files);
}

policy::SitePolicy ResolveFor(const policy::SiteFile& file, const base::Environment& environment,
                              const std::string& node) {
  policy::SiteContext context;
  const auto name = base::Lookup(environment, "SLURMD_NODENAME");
  if (name)
    context.node = *name;
  else if (!node.empty())
    context.node = node;
  context.partition = base::Lookup(environment, "SLURM_JOB_PARTITION");
  return policy::Resolve(file, context);
}

}  // namespace nccl_tune::site
