// SPDX-License-Identifier: Apache-2.0
//
// How Slurm is told of the plugin on a machine: slurm.conf, plugstack.conf, our line in it, and what the plugin makes
// of the line's arguments. So it is the one place that knows which file the site's policy is.
#ifndef NCCL_TUNE_SITE_INSTALLATION_H_
#define NCCL_TUNE_SITE_INSTALLATION_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hw/tree.h"
#include "site/arguments.h"
#include "site/plugstack.h"

namespace nccl_tune::site {

// Paths are below the root, without leading slash.
struct Installation {
  std::string slurm_conf;                // empty: none was found
  std::optional<base::Error> unread;     // why slurm.conf could not be read; nothing below is known then
  std::vector<std::string> plugin_dirs;  // PluginDir; empty: not said
  std::string stack;                     // plugstack.conf
  Plugstack plugstack;
  std::optional<PluginLine> line;              // the one that Slurm takes: the first
  Arguments arguments;                         // of that line, as far as the plugin takes them
  std::string default_text;                    // MODE of default=MODE as written, or "policy"; "off": nothing is said
  std::map<std::string, base::Error> refused;  // arguments that the plugin names in an error line and ignores
  std::string policy;                          // the site's policy
  bool names_policy = false;                   // the line names it, and it is not the usual one
};

// `slurm_conf`: its path, from SLURM_CONF; empty: the usual places.
Installation ReadInstallation(const hw::Tree& tree, std::string_view slurm_conf);

// "/FILE:LINE".
std::string WhereIs(const PluginLine& line);

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_INSTALLATION_H_
