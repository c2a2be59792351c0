// SPDX-License-Identifier: Apache-2.0
//
// plugstack.conf: which lines load our plugin. As spank(8) describes it: required|optional PATH ARGUMENTS, "include"
// with a pattern, "#" begins a comment anywhere.
#ifndef NCCL_TUNE_SITE_PLUGSTACK_H_
#define NCCL_TUNE_SITE_PLUGSTACK_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/facts/node.h"
#include "hw/tree.h"

namespace nccl_tune::site {

struct PluginLine {
  std::string file;  // path below the root
  int line = 0;
  bool is_required = false;
  std::string path;  // as written
  std::vector<std::string> arguments;
};

struct Plugstack {
  bool is_read = false;               // the file itself is there
  std::vector<PluginLine> lines;      // that name a file of ours: spank_nccl_tune.so, whatever stands before or after
  std::vector<PluginLine> disabled;   // the same behind a "#"
  std::vector<std::string> includes;  // patterns, below the root
  std::string pyxis_after;            // where pyxis is loaded after ours, "FILE:LINE"; empty: it is not
  std::vector<facts::Note> notes;
};

// `path`: below the root.
Plugstack ReadPlugstack(const hw::Tree& tree, const std::string& path);

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_PLUGSTACK_H_
