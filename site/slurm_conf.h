// SPDX-License-Identifier: Apache-2.0
//
// Slurm's own configuration, as far as it says something about us: the features of a node, which a policy's `feature`
// is held against, and where plugins lie. As slurm.conf(5) describes it: keys in any case, "\\" goes on, "#" comments,
// NodeName=DEFAULT fills the lines after it, "Include" files of the same folder. What scontrol or a node_features
// plugin changes later is not in the file.
#ifndef NCCL_TUNE_SITE_SLURM_CONF_H_
#define NCCL_TUNE_SITE_SLURM_CONF_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"
#include "hw/tree.h"

namespace nccl_tune::site {

// Where slurm.conf is if nothing says so, first that is there: a file of the node, or what slurmd got from slurmctld.
std::vector<std::string> SlurmConfPlaces();

// The path below the root, without leading slash, of `path`, or where that is empty of the first of SlurmConfPlaces
// that is there; empty: none is.
std::string FindSlurmConf(const hw::Tree& tree, std::string_view path);

// Keys of lines of their own, such as PluginDir; lower case. Fails where a file cannot be read.
base::Result<std::map<std::string, std::string, std::less<>>> ReadSlurmSettings(const hw::Tree& tree,
                                                                                const std::string& path);

// `path`: of slurm.conf below the root; empty: the first of SlurmConfPlaces. `node`: the host's own name, without
// domain. Nothing when the file does not tell: it cannot be read, or no line is about the node; a note says which.
std::optional<std::vector<std::string>> ReadNodeFeatures(const hw::Tree& tree, std::string_view path,
                                                         std::string_view node, std::vector<facts::Note>* notes);

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_SLURM_CONF_H_
