// SPDX-License-Identifier: Apache-2.0
#include "site/read_job.h"

#include <algorithm>
#include <utility>

#include "core/env/mpi_parameters.h"
#include "hw/read_conf_texts.h"
#include "site/slurm_conf.h"

namespace nccl_tune::site {

std::vector<nccl::ConfFile> ReadConfFiles(const hw::Tree& tree, const base::Environment& environment,
                                          const nccl::NcclVersion& version, std::vector<facts::Note>* notes) {
  const auto places = nccl::FindConfPlaces(environment, version);
  for (const auto& remark : places.remarks) notes->push_back({.where = "environment", .what = remark});
  return nccl::ParseConfFiles(places, hw::ReadConfTexts(tree, places.paths, notes), version);
}

nccl::SourcedEnvironment ReadSettings(const hw::Tree& tree, const base::Environment& environment,
                                      const nccl::NcclVersion& version, std::vector<facts::Note>* notes) {
  auto files = ReadConfFiles(tree, environment, version, notes);
  for (const auto& file : files) {
    constexpr std::size_t kMost = 5;  // a binary file has hundreds
    for (std::size_t i = 0; i < std::min(file.remarks.size(), kMost); ++i) {
      const auto& remark = file.remarks[i];
      const std::string line = remark.line == 0 ? "" : ":" + std::to_string(remark.line);
      notes->push_back({.where = file.path + line, .what = remark.what});
    }
    if (file.remarks.size() > kMost)
      notes->push_back({.where = file.path, .what = std::to_string(file.remarks.size() - kMost) + " more such lines"});
  }
  const auto mpi_paths = env::MpiParameterPaths(environment);
  const auto mpi_texts = hw::ReadConfTexts(tree, mpi_paths, notes);
  for (const auto& path : mpi_paths) {
    const auto text = mpi_texts.find(path);
    if (text != mpi_texts.end()) files.push_back(env::ParseMpiParameters(path, text->second));
  }
  return nccl::MergeSettings(environment, files);
}

std::optional<std::string> PartitionOf(const base::Environment& environment) {
  return base::Lookup(environment, "SLURM_JOB_PARTITION");
}

policy::SitePolicy ResolveAt(const hw::Tree& tree, const policy::SiteFile& file, const Place& place,
                             std::vector<facts::Note>* notes) {
  policy::SiteContext context;
  if (!place.node.empty()) context.node = place.node.substr(0, place.node.find('.'));
  context.partition = place.partition;
  const auto asks = [](const auto& block) { return !block.condition.features.empty(); };
  if (std::any_of(file.when.begin(), file.when.end(), asks))
    context.features = ReadNodeFeatures(tree, place.slurm_conf, context.node.value_or(""), notes);
  for (const auto& block : file.when) {
    if (context.partition || block.condition.partitions.empty()) continue;
    notes->push_back({.where = block.origin.ToString(),
                      .what = "left out: it is for jobs of partition " + block.condition.partitions.front() +
                              (block.condition.partitions.size() > 1 ? " and others" : "") +
                              ", and outside a job none is known",
                      .warns = true});
  }
  return policy::Resolve(file, context);
}

}  // namespace nccl_tune::site
