// SPDX-License-Identifier: Apache-2.0
#include "site/installation.h"

#include <algorithm>

#include "site/read_policy.h"
#include "site/slurm_conf.h"

namespace nccl_tune::site {
namespace {

std::vector<std::string> SplitAtColons(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(':'));
    if (!part.empty()) out.emplace_back(part);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return out;
}

void TakeArguments(const PluginLine& line, Installation* out) {
  constexpr std::string_view kDefault = "default=";
  for (const std::string& argument : line.arguments) {
    const auto taken = TakeArgument(argument, &out->arguments);
    if (!taken.ok())
      out->refused.emplace(argument, taken.error());
    else if (argument.starts_with(kDefault))
      out->default_text = argument.substr(kDefault.size());
  }
}

}  // namespace

Installation ReadInstallation(const hw::Tree& tree, std::string_view slurm_conf) {
  Installation out;
  out.default_text = "off";
  out.policy = kPolicyPath;
  out.slurm_conf = FindSlurmConf(tree, slurm_conf);
  if (out.slurm_conf.empty()) return out;
  const auto settings = ReadSlurmSettings(tree, out.slurm_conf);
  if (!settings.ok()) {
    out.unread = settings.error();
    return out;
  }
  const auto folders = settings->find("plugindir");
  if (folders != settings->end()) out.plugin_dirs = SplitAtColons(folders->second);
  const auto named = settings->find("plugstackconfig");
  const std::string beside = out.slurm_conf.substr(0, out.slurm_conf.rfind('/') + 1) + "plugstack.conf";
  out.stack = hw::BelowRoot(named == settings->end() ? beside : named->second);
  out.plugstack = ReadPlugstack(tree, out.stack);
  if (out.plugstack.lines.empty()) return out;
  out.line = out.plugstack.lines.front();
  TakeArguments(*out.line, &out);
  const std::string policy(hw::BelowRoot(out.arguments.policy));
  out.names_policy = !policy.empty() && policy != kPolicyPath;
  if (out.names_policy) out.policy = policy;
  return out;
}

std::string WhereIs(const PluginLine& line) { return "/" + line.file + ":" + std::to_string(line.line); }

}  // namespace nccl_tune::site
