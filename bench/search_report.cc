// SPDX-License-Identifier: Apache-2.0
#include "bench/search_report.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/json.h"
#include "bench/number_text.h"

namespace nccl_tune::bench {
namespace {

using base::Json;

constexpr int kFormat = 1;
constexpr std::size_t kMostNames = 8;  // of a group on one line
constexpr const char* kNodeHint =
    "  next: its cable and switch port, PFC, PCIe width: nccl-tune explain there, nccl-bench --per-rail with a good "
    "one";
constexpr const char* kLinkHint =
    "  next: cables and switches between the two, PFC there: nccl-bench --per-rail between the two";
constexpr const char* kGroupHint =
    "  next: what these share: uplinks of their switch, routing; nccl-bench pairs within the group";
constexpr const char* kWrongHint =
    "  next: memory, GPU and NIC errors of these nodes; which element was wrong is told by stderr";
constexpr const char* kTwoSpeedsHint =
    "  next: many are slow: rather two kinds of nodes than faults; compare nccl-tune explain of one of each";

std::string ModeName(Mode mode) { return mode == Mode::kPairs ? "pairs" : "bisect"; }

// Three digits at least, as busbw may be far below 1.
std::string Busbw(double value) { return FixedText(value, value < 10 ? 3 : 1); }

std::string Percent(double part, double whole) {
  return whole > 0 ? FixedText(part / whole * 100, 0) + " %" : "nothing";
}

std::string Counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Names(const SearchResult& result, const NodeGroup& group) {
  std::string text;
  for (std::size_t i = 0; i < std::min(group.size(), kMostNames); ++i) {
    text += (i == 0 ? "" : ", ") + result.nodes[group[i]];
  }
  if (group.size() > kMostNames) text += " and " + std::to_string(group.size() - kMostNames) + " more";
  return text;
}

std::map<Pair, double> BestOfPairs(const SearchResult& result) {
  std::map<Pair, double> best;
  for (const auto& one : result.measured) {
    if (one.nodes.size() != 2) continue;
    const Pair pair{.first = std::min(one.nodes[0], one.nodes[1]), .second = std::max(one.nodes[0], one.nodes[1])};
    const auto [known, is_new] = best.emplace(pair, one.busbw);
    if (!is_new) known->second = std::max(known->second, one.busbw);
  }
  return best;
}

void AddMatrix(const SearchResult& result, std::vector<std::string>& lines) {
  PairMatrix matrix(result.nodes.size());
  for (const auto& [pair, busbw] : BestOfPairs(result)) matrix.Set(pair.first, pair.second, busbw);
  const PairFindings findings = AnalysePairs(matrix, result.tolerance);
  lines.push_back("busbw between two nodes in GB/s; a star: under " + FixedText(result.tolerance * 100, 0) + " % of " +
                  Busbw(result.reference));
  for (const std::string& line : MatrixLines(matrix, findings, result.nodes)) lines.push_back(line);
  lines.emplace_back();
}

void AddNodesAndLinks(const SearchResult& result, std::vector<std::string>& lines) {
  for (const auto& one : result.slow_nodes) {
    std::string line = "slow node: " + result.nodes[one.node] + ": " + Busbw(one.busbw) + " GB/s, " +
                       Percent(one.busbw, result.reference) + " of " + Busbw(result.reference);
    if (one.pairs > 0) {
      line += "; slow with " + std::to_string(one.slow_pairs) + " of " + std::to_string(one.pairs) + " others";
    }
    lines.push_back(std::move(line));
    lines.emplace_back(kNodeHint);
  }
  if (result.has_two_speeds) lines.emplace_back(kTwoSpeedsHint);
  for (const auto& one : result.slow_links) {
    lines.push_back("slow link: " + result.nodes[one.pair.first] + " - " + result.nodes[one.pair.second] + ": " +
                    Busbw(one.busbw) + " GB/s, " + Percent(one.busbw, result.reference) + " of " +
                    Busbw(result.reference));
    lines.emplace_back(kLinkHint);
  }
}

void AddGroups(const SearchResult& result, std::vector<std::string>& lines) {
  for (const auto& one : result.slow_groups) {
    lines.push_back("slow together: " + Names(result, one.nodes) + ": " + Busbw(one.busbw) + " GB/s, " +
                    Percent(one.busbw, one.reference) + " of " + Busbw(one.reference));
    lines.emplace_back(kGroupHint);
  }
  for (const NodeGroup& one : result.wrong) {
    lines.push_back("wrong data: " + Names(result, one));
    lines.emplace_back(kWrongHint);
  }
}

Json NamesJson(const SearchResult& result, const NodeGroup& group) {
  Json names = Json::array();
  for (const std::uint64_t node : group) names.push_back(result.nodes[node]);
  return names;
}

Json MeasuredJson(const SearchResult& result) {
  Json all = Json::array();
  for (const auto& one : result.measured) {
    all.push_back(Json{{"round", one.round}, {"nodes", NamesJson(result, one.nodes)}, {"busbw", one.busbw}});
  }
  return all;
}

Json SlowNodesJson(const SearchResult& result) {
  Json all = Json::array();
  for (const auto& one : result.slow_nodes) {
    Json node{{"node", result.nodes[one.node]}, {"busbw", one.busbw}};
    if (one.pairs > 0) {
      node["slow_pairs"] = one.slow_pairs;
      node["pairs"] = one.pairs;
    }
    all.push_back(std::move(node));
  }
  return all;
}

Json SlowLinksJson(const SearchResult& result) {
  Json all = Json::array();
  for (const auto& one : result.slow_links) {
    all.push_back(Json{{"nodes", NamesJson(result, {one.pair.first, one.pair.second})}, {"busbw", one.busbw}});
  }
  return all;
}

Json SlowGroupsJson(const SearchResult& result) {
  Json all = Json::array();
  for (const auto& one : result.slow_groups) {
    all.push_back(Json{{"nodes", NamesJson(result, one.nodes)}, {"busbw", one.busbw}, {"reference", one.reference}});
  }
  return all;
}

Json WrongJson(const SearchResult& result) {
  Json all = Json::array();
  for (const NodeGroup& one : result.wrong) all.push_back(NamesJson(result, one));
  return all;
}

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string SearchText(const SearchResult& result) {
  std::vector<std::string> lines = {""};
  lines.push_back(ModeName(result.mode) + " over " + std::to_string(result.nodes.size()) + " nodes by " +
                  result.collective + ", in " + Counted(result.rounds, "round"));
  lines.emplace_back();
  if (result.mode == Mode::kPairs) AddMatrix(result, lines);
  AddNodesAndLinks(result, lines);
  AddGroups(result, lines);
  if (result.nodes.size() < 3) {
    lines.emplace_back("two nodes: nothing to compare with, three are needed to tell a slow one");
  } else if (!IsSuspicious(result)) {
    lines.push_back("nothing slow: a good pair has " + Busbw(result.reference) + " GB/s");
  }
  lines.emplace_back();
  lines.push_back("Search concluded: " + ModeName(result.mode) + ": " + Counted(result.slow_nodes.size(), "slow node") +
                  ", " + Counted(result.slow_links.size(), "slow link"));
  std::string text;
  for (const std::string& line : lines) text += line.empty() ? "#\n" : "# " + line + "\n";
  return text;
}

std::string SearchJson(const SearchResult& result) {
  Json json{{"v", kFormat},
            {"mode", ModeName(result.mode)},
            {"version", result.own_version},
            {"backend", result.backend},
            {"collective", result.collective},
            {"type", result.type},
            {"op", result.op},
            {"sizes", result.sizes},
            {"ranks", result.ranks},
            {"nodes", result.nodes},
            {"complete", result.is_complete},
            {"tolerance", result.tolerance},
            {"rounds", result.measured.empty() ? 0 : result.measured.back().round},
            {"measured", MeasuredJson(result)},
            {"wrong", WrongJson(result)}};
  json["doubts"] = result.doubts;
  if (!result.error.empty()) json["error"] = result.error;
  if (result.is_complete) {
    json["reference"] = result.reference;
    json["slow_nodes"] = SlowNodesJson(result);
    json["slow_links"] = SlowLinksJson(result);
    json["slow_groups"] = SlowGroupsJson(result);
    json["two_speeds"] = result.has_two_speeds;
  }
  return base::DumpJson(json, 1) + "\n";
}

std::string SearchCsv(const SearchResult& result) {
  std::string text = "first,second,busbw\n";
  for (const auto& [pair, busbw] : BestOfPairs(result)) {
    text += Quoted(result.nodes[pair.first]) + "," + Quoted(result.nodes[pair.second]) + "," + ExactText(busbw) + "\n";
  }
  return text;
}

}  // namespace nccl_tune::bench
