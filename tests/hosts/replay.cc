// SPDX-License-Identifier: Apache-2.0
#include "tests/hosts/replay.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "core/facts/ip_address.h"
#include "core/nccl/nccl_version.h"
#include "core/policy/situation.h"
#include "hw/capture_tree.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "hw/read_details.h"
#include "hw/read_node.h"
#include "report/explain.h"
#include "report/facts_text.h"

namespace nccl_tune::hosts {
namespace {

constexpr std::string_view kSuffix = ".capture";

std::string Header(const hw::Capture& capture, std::string_view key) {
  const auto found = capture.header.find(key);
  return found == capture.header.end() ? "" : found->second;
}

}  // namespace

base::Result<std::string> ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in) return base::Error{.code = base::Code::kNotFound, .what = "cannot read", .where = path};
  return text;
}

base::Result<Replay> ReplayCapture(const std::string& folder, const std::string& name) {
  const std::string file = name + std::string(kSuffix);
  NCCL_TUNE_ASSIGN_OR_RETURN(text, ReadWhole(folder + "/" + file));
  NCCL_TUNE_ASSIGN_OR_RETURN(capture, hw::ParseCapture(text, file));
  std::optional<facts::IpAddress> address;
  const std::string node_addr = Header(capture, "node-addr");
  if (!node_addr.empty()) {
    NCCL_TUNE_ASSIGN_OR_RETURN(parsed, facts::ParseIpAddress(node_addr));
    address = parsed;
  }
  const std::string label = Header(capture, "name");
  const hw::CaptureTree tree(std::move(capture));
  std::vector<facts::Note> notes;
  const auto ip = hw::ReadIpFiles(tree, &notes);
  NCCL_TUNE_ASSIGN_OR_RETURN(node, hw::ReadNode(tree, ip, address));
  node.notes.insert(node.notes.begin(), notes.begin(), notes.end());
  auto details = hw::ReadDetails(tree, node, std::nullopt);
  auto plan = env::MakePlan(label, policy::Assess(node), {});
  policy::SitePolicy site;
  site.gid_index = {.value = policy::GidIndexRule::kAuto, .origin = {}};
  auto unpinned = env::MakePlan(label, policy::Assess(node, {.site = site}), {});
  return Replay{
      .node = std::move(node), .details = std::move(details), .plan = std::move(plan), .unpinned = std::move(unpinned)};
}

base::Result<std::vector<std::string>> ListCaptures(const std::string& folder) {
  NCCL_TUNE_ASSIGN_OR_RETURN(directory, hw::DirectoryTree::Open(folder));
  NCCL_TUNE_ASSIGN_OR_RETURN(files, directory->List("."));
  std::vector<std::string> out;
  for (const auto& file : files) {
    if (file.ends_with(kSuffix)) out.push_back(file.substr(0, file.size() - kSuffix.size()));
  }
  return out;
}

std::vector<Golden> RenderGoldens(const std::string& name, const Replay& replay) {
  return {{.file = name + ".facts.json", .text = report::FactsJson(replay.node, replay.details, {})},
          {.file = name + ".explain.txt",
           .text = report::ExplainText(report::Explain(replay.node, replay.plan, nccl::kAssumedVersion))},
          {.file = name + ".unpinned.txt", .text = report::EnvConf(env::ValuesOf(replay.unpinned))}};
}

}  // namespace nccl_tune::hosts
