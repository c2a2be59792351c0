// SPDX-License-Identifier: Apache-2.0
#include "spank/report_groups.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/policy/host_list.h"

namespace nccl_tune::spank {
namespace {

std::string PrintableLines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out += base::Printable(std::string(text.substr(0, end))) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

struct Group {
  const Report* first = nullptr;
  std::vector<std::string> nodes;
};

}  // namespace

std::string GroupReports(std::vector<Report> reports) {
  std::stable_sort(reports.begin(), reports.end(),
                   [](const Report& a, const Report& b) { return policy::HostLess(a.node, b.node); });
  std::vector<Group> groups;
  for (const auto& report : reports) {
    const auto found =
        std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.first->key == report.key; });
    if (found == groups.end())
      groups.push_back({.first = &report, .nodes = {report.node}});
    else
      found->nodes.push_back(report.node);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.nodes.size() > b.nodes.size(); });
  std::string out;
  for (auto& group : groups) {
    const std::size_t count = group.nodes.size();
    out += "nccl-tune: " + base::Printable(policy::FormatHostList(std::move(group.nodes))) +
           (count == 1 ? "" : " (" + std::to_string(count) + " nodes)") + "\n" + PrintableLines(group.first->text);
    if (count > 1 && !group.first->text.empty())
      out += "nccl-tune:   (addresses in the reasons are those of " + base::Printable(group.first->node) + ")\n";
  }
  return out;
}

}  // namespace nccl_tune::spank
