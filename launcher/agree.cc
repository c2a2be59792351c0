// SPDX-License-Identifier: Apache-2.0
#include "launcher/agree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/parse_number.h"
#include "core/policy/host_list.h"

namespace nccl_tune::launcher {
namespace {

using Entries = std::vector<NodeEntry>;

constexpr std::size_t kNamesWidth = 60;
constexpr std::size_t kMostLines = 4;  // of one kind

Difference* Find(std::vector<Difference>* differences, Item item) {
  const auto found =
      std::find_if(differences->begin(), differences->end(), [&](const auto& d) { return d.item == item; });
  return found == differences->end() ? nullptr : &*found;
}

template <typename Holds>
bool All(const Entries& entries, Holds holds) {
  return std::all_of(entries.begin(), entries.end(), holds);
}

std::string Names(std::vector<std::string> nodes) {
  const std::size_t count = nodes.size();
  return CutHostList(policy::FormatHostList(std::move(nodes)), count, kNamesWidth);
}

std::string NamesOfOdd(const Difference& difference) {
  std::string out;
  std::size_t width = kNamesWidth;
  for (const auto& odd : difference.odd) {
    out += (out.empty() ? "" : ", ") + CutHostList(odd.nodes, odd.count, width) + " has " + base::Printable(odd.value);
    width = kNamesWidth / 2;
  }
  return difference.other_values == 0 ? out : out + " and more";
}

// The rails of a node by a name that holds on all nodes.
using RailNames = std::vector<std::string>;

// By network: nothing where one is unknown or two rails share one.
std::optional<RailNames> ByNetwork(const NodeEntry& entry) {
  RailNames out;
  for (const auto& rail : entry.rails) {
    if (!rail.network) return std::nullopt;
    out.push_back(rail.network->ToString());
  }
  const std::set<std::string> once(out.begin(), out.end());
  return once.size() == out.size() ? std::optional(out) : std::nullopt;
}

std::size_t PlaceOf(const std::string& name) { return base::ParseInteger<std::size_t>(name).value_or(0); }

// By the place in the layout, zeros in front so that they sort.
std::optional<RailNames> ByPlace(const NodeEntry& entry, std::size_t size) {
  if (entry.layout.size() != size) return std::nullopt;
  RailNames out;
  for (std::size_t i = 0; i < size; ++i) {
    const std::string number = std::to_string(i);
    if (entry.layout[i] == 'u') out.push_back(std::string(4 - std::min<std::size_t>(4, number.size()), '0') + number);
  }
  return out.size() == entry.rails.size() ? std::optional(out) : std::nullopt;
}

// Rails that not every node has, each with the nodes that lack it; nothing where the names do not tell.
struct Missing {
  std::map<std::string, std::vector<std::string>> nodes_of;
  std::size_t all = 0;
};

std::optional<Missing> FindMissing(const Entries& entries, const std::vector<RailNames>& names) {
  std::map<std::string, std::size_t> count;
  std::size_t largest = 0;
  for (const auto& own : names) {
    for (const auto& name : own) ++count[name];
    largest = std::max(largest, own.size());
  }
  Missing out{.nodes_of = {}, .all = count.size()};
  for (const auto& [name, nodes] : count) {
    if (nodes < entries.size()) out.nodes_of[name];
  }
  const std::size_t common = out.all - out.nodes_of.size();
  // Names that hold on all nodes are mostly common ones; else they are the networks of racks, or nodes built otherwise.
  if (common == 0 || (out.all != largest && common * 2 < out.all)) return std::nullopt;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (names[i].size() == out.all) continue;
    const std::set<std::string> own(names[i].begin(), names[i].end());
    for (auto& [name, nodes] : out.nodes_of) {
      if (!own.contains(name)) nodes.push_back(entries[i].node);
    }
  }
  return out;
}

template <typename Name>
std::optional<Missing> FindMissingBy(const Entries& entries, Name name) {
  std::vector<RailNames> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) {
    auto own = name(entry);
    if (!own || own->empty()) return std::nullopt;
    names.push_back(std::move(*own));
  }
  return FindMissing(entries, names);
}

void SayDropped(const Missing& missing, bool by_place, std::vector<std::string>* lines) {
  const std::size_t left = missing.all - missing.nodes_of.size();
  std::size_t said = 0;
  for (const auto& [name, nodes] : missing.nodes_of) {
    if (++said > kMostLines) break;
    const std::string rail = by_place ? "of RDMA port " + std::to_string(PlaceOf(name) + 1) : name;
    lines->push_back("rail " + rail + " is missing on " + Names(nodes) + ": left out on all nodes, " +
                     std::to_string(left) + " of " + std::to_string(missing.all) + " rails are used");
  }
  if (missing.nodes_of.size() > kMostLines)
    lines->push_back("and " + std::to_string(missing.nodes_of.size() - kMostLines) + " more rails likewise");
}

void AgreeOnRails(const Entries& entries, std::vector<Difference>* differences, Agreed* out) {
  if (!All(entries, [](const auto& e) { return e.changeable.rails && !e.rails.empty(); })) return;
  if (All(entries, [&](const auto& e) { return e.rails == entries.front().rails; })) return;
  Difference* const difference = Find(differences, Item::kRails);
  auto missing = FindMissingBy(entries, ByNetwork);
  const bool by_place = !missing;
  if (by_place) {
    // As many rails on each node, of networks that do not tell them apart: nothing says that a place does.
    if (difference == nullptr) return;
    const std::size_t size = entries.front().layout.size();
    missing = FindMissingBy(entries, [&](const auto& entry) { return ByPlace(entry, size); });
    out->agreement.layout_size = missing ? size : 0;
  }
  if (!missing || missing->nodes_of.empty()) return;
  for (const auto& [name, nodes] : missing->nodes_of) {
    if (by_place)
      out->agreement.drop_places.push_back(PlaceOf(name));
    else
      out->agreement.drop_networks.push_back(name);
  }
  SayDropped(*missing, by_place, &out->lines);
  if (difference != nullptr) difference->settled = true;
}

void AgreeOnFamily(const Entries& entries, std::vector<Difference>* differences, Agreed* out) {
  Difference* const difference = Find(differences, Item::kFamily);
  if (difference == nullptr || !All(entries, [](const auto& e) { return e.changeable.gid; })) return;
  const auto can = [&](char family) {
    return All(entries, [&](const NodeEntry& e) {
      return std::all_of(e.rails.begin(), e.rails.end(), [&](const Rail& rail) {
        return !rail.ethernet || rail.families.find(family) != std::string::npos;
      });
    });
  };
  const bool first_v6 = difference->most == "IPv6";
  const char first = first_v6 ? '6' : '4';
  const char second = first_v6 ? '4' : '6';
  const char chosen = can(first) ? first : can(second) ? second : '\0';
  if (chosen == '\0') return;
  out->agreement.family = chosen - '0';
  out->lines.push_back(std::string("GIDs of IPv") + chosen + " addresses on all nodes: " + NamesOfOdd(*difference) +
                       ", the others " + difference->most);
  difference->settled = true;
}

void AgreeOnClass(const Entries& entries, std::vector<Difference>* differences, Agreed* out) {
  Difference* const difference = Find(differences, Item::kTrafficClass);
  if (difference == nullptr || !All(entries, [](const auto& e) { return e.changeable.traffic_class; })) return;
  std::map<std::string, std::size_t> nodes_of;
  for (const auto& entry : entries) {
    const auto found = entry.planned_values.find("NCCL_IB_TC");
    if (found != entry.planned_values.end()) ++nodes_of[found->second];
  }
  // Most nodes prove one class and none proves another: the network is set up for it.
  const bool proved = nodes_of.size() == 1 && nodes_of.begin()->second * 2 > entries.size() &&
                      base::ParseInteger<std::uint8_t>(nodes_of.begin()->first).ok();
  out->agreement.traffic_class = proved ? nodes_of.begin()->first : "";
  out->lines.push_back((proved ? "NCCL_IB_TC=" + base::Printable(nodes_of.begin()->first) + " on all nodes: "
                               : std::string("NCCL_IB_TC is left unset on all nodes: ")) +
                       NamesOfOdd(*difference) + ", the others " + base::Printable(difference->most));
  difference->settled = true;
}

void AgreeOnInterface(const Entries& entries, std::vector<Difference>* differences, Agreed* out) {
  Difference* const meeting = Find(differences, Item::kMeeting);
  Difference* const probes = Find(differences, Item::kProbes);
  if (meeting == nullptr && probes == nullptr) return;
  const bool helps =
      std::any_of(entries.begin(), entries.end(), [](const auto& e) { return e.on_rail && e.changeable.interface; });
  if (!helps) return;
  out->agreement.fall_back = true;
  if (meeting != nullptr)
    out->lines.push_back("the nodes do not meet on one network: " + NamesOfOdd(*meeting) + ", the other " +
                         std::to_string(meeting->most_count) + " " + meeting->most);
  out->lines.push_back("NCCL_SOCKET_IFNAME is the interface of the node's address in Slurm on all nodes");
  for (auto* const difference : {meeting, probes}) {
    if (difference != nullptr) difference->settled = true;
  }
}

}  // namespace

std::vector<Difference> DifferencesOf(const std::vector<FailedProbe>& failures) {
  if (failures.empty()) return {};
  std::map<std::string, std::set<std::string>> nodes_of;  // by reason
  for (const auto& failure : failures) nodes_of[failure.reason].insert(failure.to);
  Difference out{.item = Item::kProbes, .severity = Severity::kFail, .what = "reached by TCP", .most = "yes"};
  for (const auto& [reason, nodes] : nodes_of) {
    std::vector<std::string> names(nodes.begin(), nodes.end());
    out.odd.push_back({reason, names.size(), policy::FormatHostList(std::move(names))});
  }
  std::stable_sort(out.odd.begin(), out.odd.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  constexpr std::size_t kMostOdd = 3;
  for (std::size_t i = kMostOdd; i < out.odd.size(); ++i) {
    ++out.other_values;
    out.other_nodes += out.odd[i].count;
  }
  out.odd.resize(std::min(out.odd.size(), kMostOdd));
  const auto& first = failures.front();
  out.advice = "for one, " + first.from + " does not reach " + first.to + " at " + first.address + ": " + first.reason;
  return {out};
}

Agreed Agree(const Entries& entries, std::vector<Difference>* differences) {
  Agreed out;
  if (entries.size() < 2) return out;
  AgreeOnRails(entries, differences, &out);
  AgreeOnFamily(entries, differences, &out);
  AgreeOnClass(entries, differences, &out);
  AgreeOnInterface(entries, differences, &out);
  for (auto& line : out.lines) line = base::Printable(line);
  return out;
}

}  // namespace nccl_tune::launcher
