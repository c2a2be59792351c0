// SPDX-License-Identifier: Apache-2.0
#include "cli/advice.h"

#include <algorithm>

namespace nccl_tune::cli {
namespace {

constexpr std::string_view kPlugin = "usr/lib/nccl-tune/spank_nccl_tune.so";
constexpr std::string_view kFolder = "plugstack.conf.d";
constexpr std::string_view kDropIn = "zz-nccl_tune.conf";

// A drop-in of ours beside plugstack.conf, which that may or may not include; empty: none.
std::string FindDropIn(const hw::Tree& tree, const std::string& folder) {
  const auto names = tree.List(folder);
  if (!names.ok()) return "";
  const auto ours = std::find_if(names->begin(), names->end(), [](const std::string& name) {
    return name.find("nccl_tune") != std::string::npos && name.ends_with(".conf");
  });
  return ours == names->end() ? "" : folder + "/" + *ours;
}

}  // namespace

std::string HowToInstall(std::string_view path) {
  if (hw::BelowRoot(path) == kPlugin) return "apt install ./nccl-tune-slurm-plugin.deb";
  return "copy spank_nccl_tune.so to " + std::string(path);
}

std::string HowToName(const hw::Tree& tree, const site::Installation& installation) {
  const std::string install = tree.Exists(kPlugin) ? "" : HowToInstall(kPlugin) + ", then ";
  const auto& stack = installation.plugstack;
  if (!stack.disabled.empty()) {
    const auto& line = stack.disabled.front();
    return install + "take the # away from " + site::WhereIs(line);
  }
  const std::string beside = installation.stack.substr(0, installation.stack.rfind('/') + 1);
  const std::string folder = beside + std::string(kFolder);
  const bool includes = std::any_of(stack.includes.begin(), stack.includes.end(),
                                    [&](const std::string& pattern) { return pattern.starts_with(folder + "/"); });
  const std::string include = "include /" + folder + "/*.conf";
  const std::string drop_in = FindDropIn(tree, folder);
  const std::string line = "optional /" + std::string(kPlugin);
  if (!drop_in.empty() && !includes)
    return install + "write into /" + installation.stack + ", which does not include /" + drop_in + ": " + include;
  if (!drop_in.empty()) return install + "write into /" + drop_in + ": " + line;
  if (includes) return install + "write into a new /" + folder + "/" + std::string(kDropIn) + ": " + line;
  return install + "write into /" + installation.stack + ": " + line;
}

}  // namespace nccl_tune::cli
