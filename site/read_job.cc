// SPDX-License-Identifier: Apache-2.0
#include "site/read_job.h"

#include <algorithm>
#include <utility>

#include "core/env/mpi_parameters.h"
#include "hw/read_conf_texts.h"

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

policy::SitePolicy ResolveFor(const policy::SiteFile& file, const base::Environment& environment,
                              const std::string& node) {
  policy::SiteContext context;
  if (!node.empty()) context.node = node.substr(0, node.find('.'));
  context.partition = base::Lookup(environment, "SLURM_JOB_PARTITION");
  return policy::Resolve(file, context);
}

}  // namespace nccl_tune::site
