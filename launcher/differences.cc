// SPDX-License-Identifier: Apache-2.0
#include "launcher/differences.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "core/policy/host_list.h"

namespace nccl_tune::launcher {
namespace {

using Value = std::optional<std::string>;
using Nodes = std::vector<std::size_t>;  // places in the sorted entries

constexpr std::size_t kMostOdd = 3;
constexpr const char* kUnset = "unset";

// One row of what is compared.
struct Row {
  Item item;
  Severity severity;
  std::string what;
  std::string advice;
  std::function<Value(const NodeEntry&)> value;
};

// Values of the rails, each once, in order of their appearance: "400", "400,200".
template <typename Get>
Value Distinct(const NodeEntry& entry, Get get) {
  std::vector<std::string> seen;
  std::string out;
  for (const auto& rail : entry.rails) {
    const Value value = get(rail);
    if (!value) continue;
    if (std::find(seen.begin(), seen.end(), *value) != seen.end()) continue;
    out += (out.empty() ? "" : ",") + *value;
    seen.push_back(*value);
  }
  return out.empty() ? std::nullopt : Value(out);
}

std::string Rounded(double number) {
  const auto tenths = static_cast<std::int64_t>(number * 10 + 0.5);
  return std::to_string(tenths / 10) + (tenths % 10 != 0 ? "." + std::to_string(tenths % 10) : "");
}

Value RateOf(const Rail& rail) { return rail.gbps ? Value(Rounded(*rail.gbps) + " Gbit/s") : std::nullopt; }
Value MtuOf(const Rail& rail) { return rail.mtu ? Value(std::to_string(*rail.mtu)) : std::nullopt; }
Value LinkOf(const Rail& rail) { return rail.ethernet ? "Ethernet" : "InfiniBand"; }
Value FamilyOf(const Rail& rail) {
  return rail.families.empty() ? std::nullopt : Value(rail.families[0] == '4' ? "IPv4" : "IPv6");
}
Value RoceOf(const Rail& rail) { return rail.roce ? Value("v" + std::to_string(*rail.roce)) : std::nullopt; }

// Whoever set it.
Value ClassOf(const NodeEntry& entry) {
  for (const auto* values : {&entry.user_values, &entry.planned_values}) {
    const auto found = values->find("NCCL_IB_TC");
    if (found != values->end()) return found->second;
  }
  return entry.rails.empty() ? std::nullopt : Value(kUnset);
}

std::vector<Row> FixedRows() {
  const auto rails = [](Value (*get)(const Rail&)) { return [get](const NodeEntry& e) { return Distinct(e, get); }; };
  return {
      {Item::kOther, Severity::kWarn, "nccl-tune", "Install the same nccl-tune on all nodes.",
       [](const NodeEntry& e) { return Value(e.version); }},
      {Item::kOther, Severity::kWarn, "plan",
       "srun --nccl-tune made no plan on some nodes: see nccl-tune doctor there.",
       [](const NodeEntry& e) { return Value(e.planned ? "yes" : "no"); }},
      {Item::kRails, Severity::kFail, "rails",
       "From 2.30.3 on NCCL refuses other counts: see nccl-tune explain on the odd nodes.",
       [](const NodeEntry& e) { return Value(std::to_string(e.rails.size())); }},
      {Item::kOther, Severity::kFail, "link layer", "InfiniBand and Ethernet do not reach each other.", rails(LinkOf)},
      {Item::kOther, Severity::kWarn, "rate of rails",
       "The slowest rail sets the pace: look at cable and switch port of the odd nodes.", rails(RateOf)},
      {Item::kOther, Severity::kWarn, "MTU of rails",
       "Set one MTU on all nodes: larger frames than the other side takes are lost.", rails(MtuOf)},
      {Item::kFamily, Severity::kFail, "GID family", "IPv4 and IPv6 GIDs do not reach each other.", rails(FamilyOf)},
      {Item::kOther, Severity::kFail, "RoCE version", "RoCE v1 and v2 do not reach each other.", rails(RoceOf)},
      {Item::kTrafficClass, Severity::kWarn, "NCCL_IB_TC",
       "Set up PFC and DSCP alike on all nodes, or one traffic class in the site's policy.", ClassOf},
      {Item::kOther, Severity::kWarn, "NCCL version",
       "All ranks must load the same NCCL: give all nodes the same library.",
       [](const NodeEntry& e) { return e.nccl; }},
      {Item::kOther, Severity::kWarn, "GPU driver", "Install the same driver on all nodes.",
       [](const NodeEntry& e) { return e.driver; }},
      {Item::kOther, Severity::kWarn, "GPU model", "The slowest GPU sets the pace: ask Slurm for one type.",
       [](const NodeEntry& e) { return e.gpu_model; }},
      {Item::kOther, Severity::kNote, "GPUs", "Ask for the same number of GPUs on each node.",
       [](const NodeEntry& e) { return e.gpus ? Value(std::to_string(*e.gpus)) : std::nullopt; }},
  };
}

// `users`: someone else than our plans set it, on some node.
Severity SeverityOf(const std::string& variable, bool users) {
  if (users && MustBeAlike(variable)) return Severity::kFail;
  return IsOfOneNode(variable) || variable.starts_with("NCCL_DEBUG") ? Severity::kNote : Severity::kWarn;
}

Value Lookup(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : Value(found->second);
}

// A row for each variable that some node has and that does not have a row above. Most steps have the same ones on all
// nodes, so names are looked up only where an entry's differ from the one before.
std::vector<Row> VariableRows(const std::vector<const NodeEntry*>& entries) {
  std::set<std::string> planned;
  std::set<std::string> users;
  const auto add = [](const auto& values, const auto* before, std::set<std::string>* names) {
    if (before != nullptr && values == *before) return;
    for (const auto& [name, value] : values) names->insert(name);
  };
  const NodeEntry* before = nullptr;
  for (const auto* entry : entries) {
    add(entry->planned_values, before != nullptr ? &before->planned_values : nullptr, &planned);
    add(entry->user_values, before != nullptr ? &before->user_values : nullptr, &users);
    before = entry;
  }
  planned.insert(users.begin(), users.end());
  planned.erase("NCCL_IB_TC");
  std::vector<Row> out;
  for (const auto& name : planned) {
    const bool theirs = users.contains(name);
    out.push_back({Item::kOther, SeverityOf(name, theirs), name,
                   theirs ? "It was set by the user, the image or a file of NCCL: set it alike on all nodes."
                          : "The nodes' plans differ in it: see nccl-tune explain on the odd nodes.",
                   [name](const NodeEntry& e) {
                     if (auto value = Lookup(e.user_values, name)) return value;
                     const auto ours = Lookup(e.planned_values, name);
                     return ours ? ours : Value(kUnset);
                   }});
  }
  return out;
}

// The networks of the rails in their order; unknown where one is, or where they are alike and so tell no order.
Value OrderOf(const NodeEntry& entry) {
  std::string out;
  std::set<std::string> seen;
  for (const auto& rail : entry.rails) {
    if (!rail.network) return std::nullopt;
    std::string text = rail.network->ToString();
    out += (out.empty() ? "" : " ") + text;
    if (!seen.insert(std::move(text)).second) return std::nullopt;
  }
  return out;
}

// Where one node has the same networks as the first, but in another order.
std::optional<Row> OrderRow(const std::vector<const NodeEntry*>& entries) {
  const Value first = OrderOf(*entries.front());
  if (!first) return std::nullopt;
  const auto sorted = [](const NodeEntry& entry) {
    std::vector<std::string> out;
    for (const auto& rail : entry.rails) out.push_back(rail.network->ToString());
    std::sort(out.begin(), out.end());
    return out;
  };
  const auto expected = sorted(*entries.front());
  std::set<std::string> known;
  bool differs = false;
  for (const auto* entry : entries) {
    if (entry->rails == entries.front()->rails) continue;
    const Value order = OrderOf(*entry);
    if (!order || order == first || sorted(*entry) != expected) continue;
    known.insert(*order);
    differs = true;
  }
  if (!differs) return std::nullopt;
  known.insert(*first);
  return Row{Item::kOther, Severity::kWarn, "order of rails",
             "The same rail should have the same place on each node: look at the cables of the odd nodes.",
             [known](const NodeEntry& e) {
               const Value order = OrderOf(e);
               return order && known.contains(*order) ? order : std::nullopt;
             }};
}

// The nodes of each value, grouped. Values are looked up by hash: every node may have its own.
std::optional<Difference> CompareRow(const Row& row, const std::vector<const NodeEntry*>& entries) {
  std::unordered_map<std::string, std::size_t> place;
  std::vector<std::pair<std::string, Nodes>> groups;  // in the order of their first node
  std::size_t last = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Value value = row.value(*entries[i]);
    if (!value) continue;
    if (groups.empty() || groups[last].first != *value) {
      const auto [at, is_new] = place.try_emplace(*value, groups.size());
      last = at->second;
      if (is_new) groups.emplace_back(std::move(*value), Nodes());
    }
    groups[last].second.push_back(i);
  }
  if (groups.size() < 2) return std::nullopt;
  const auto larger = [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); };
  std::stable_sort(groups.begin(), groups.end(), larger);
  Difference out{.item = row.item, .severity = row.severity, .what = row.what};
  out.most = groups[0].first;
  out.most_count = groups[0].second.size();
  out.advice = row.advice;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    auto& [value, nodes] = groups[g];
    if (g > kMostOdd) {
      ++out.other_values;
      out.other_nodes += nodes.size();
      continue;
    }
    std::vector<std::string> names;
    for (const auto node : nodes) names.push_back(entries[node]->node);
    out.odd.push_back({std::move(value), nodes.size(), policy::FormatHostList(std::move(names))});
  }
  return out;
}

// Nodes that mean to meet elsewhere, where one of them relies on its rail: an address in Slurm all nodes reach, across
// networks, but a rail only those on it.
std::optional<Difference> CompareMeeting(const std::vector<const NodeEntry*>& entries) {
  const bool relies =
      std::any_of(entries.begin(), entries.end(), [](const auto* e) { return e->network && e->on_rail; });
  if (!relies) return std::nullopt;
  return CompareRow({Item::kMeeting, Severity::kFail, "bootstrap network",
                     "The nodes do not meet on one network: see nccl-tune explain on the odd nodes.",
                     [](const NodeEntry& e) { return e.network; }},
                    entries);
}

}  // namespace

std::vector<Difference> Compare(const std::vector<NodeEntry>& entries) {
  std::vector<Difference> out;
  if (entries.size() < 2) return out;
  std::vector<const NodeEntry*> sorted;
  sorted.reserve(entries.size());
  for (const auto& entry : entries) sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->node_id < b->node_id; });
  std::vector<Row> rows = FixedRows();
  if (auto order = OrderRow(sorted)) rows.push_back(std::move(*order));
  // Without a plan NCCL takes what it finds, and what the rules would take says less.
  const bool planned = std::all_of(entries.begin(), entries.end(), [](const auto& e) { return e.planned; });
  for (auto& row : rows) {
    if (!planned && row.severity == Severity::kFail) row.severity = Severity::kWarn;
  }
  for (auto& row : VariableRows(sorted)) rows.push_back(std::move(row));
  if (auto meeting = CompareMeeting(sorted)) out.push_back(std::move(*meeting));
  for (const auto& row : rows) {
    if (auto difference = CompareRow(row, sorted)) out.push_back(std::move(*difference));
  }
  return out;
}

}  // namespace nccl_tune::launcher
