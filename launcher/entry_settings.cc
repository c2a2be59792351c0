// SPDX-License-Identifier: Apache-2.0
//
// The variables of an entry: DescribeSettings, IsOfOneNode.
#include <algorithm>
#include <array>

#include "base/hash.h"
#include "core/nccl/settable.h"
#include "core/nccl/variables.h"
#include "launcher/node_entry.h"

namespace nccl_tune::launcher {
namespace {

using Values = std::map<std::string, std::string>;

constexpr std::array<std::string_view, 23> kOfOneNode = {"GLOO_SOCKET_IFNAME",
                                                         "MELLANOX_VISIBLE_DEVICES",
                                                         "NCCL_DEBUG_FILE",
                                                         "NCCL_GRAPH_DUMP_FILE",
                                                         "NCCL_HOSTID",
                                                         "NCCL_IB_ADDR_FAMILY",
                                                         "NCCL_IB_ADDR_RANGE",
                                                         "NCCL_IB_GID_INDEX",
                                                         "NCCL_IB_HCA",
                                                         "NCCL_OOB_NET_IFNAME",
                                                         "NCCL_SOCKET_IFNAME",
                                                         "NCCL_TOPO_DUMP_FILE",
                                                         "NCCL_TOPO_FILE",
                                                         "NVSHMEM_HCA_LIST",
                                                         "NVSHMEM_HCA_PREFIX",
                                                         "NVSHMEM_HCA_PE_MAPPING",
                                                         "NVSHMEM_IB_ADDR_FAMILY",
                                                         "NVSHMEM_IB_ADDR_RANGE",
                                                         "NVSHMEM_IB_GID_INDEX",
                                                         "OMPI_MCA_btl_tcp_if_include",
                                                         "TP_SOCKET_IFNAME",
                                                         "OMPI_MCA_btl_tcp_if_exclude",
                                                         "UCX_NET_DEVICES"};

// Values that guard a job: whoever knows them may join it.
constexpr std::array<std::string_view, 2> kGuarding = {"NCCL_SOCKET_MAGIC", "NCCL_COMM_ID"};

// The name of what did not find room, all in one hash.
constexpr const char* kRest = "NCCL_and_others";

bool Travels(std::string_view name) {
  // NCCL_VERSION is a label of NVIDIA's images; NCCL does not read it.
  if (name == env::kPlanVariable || name == "NCCL_VERSION" || nccl::IsOurOwn(name)) return false;
  return name.size() <= nccl::kLongestName && base::Printable(name) == name && env::IsTunable(name);
}

std::string HashOf(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "#";
  for (std::uint64_t hash = base::HashText(text), left = 8; left > 0; --left, hash <<= 4U) out += kDigits[hash >> 60U];
  return out;
}

std::string ShortValue(std::string_view name, const std::string& value) {
  constexpr std::size_t kLongest = 24;
  const bool guards = std::find(kGuarding.begin(), kGuarding.end(), name) != kGuarding.end();
  const bool plain = value.size() <= kLongest && base::Printable(value) == value;
  return plain && !guards ? value : HashOf(value);
}

// At most kMostVariables, and one more that stands for the others.
Values Bounded(const Values& all) {
  Values out;
  std::string rest;
  for (const auto& [name, value] : all) {
    if (out.size() < kMostVariables)
      out[name] = ShortValue(name, value);
    else
      rest += name + "=" + value + "\n";
  }
  if (!rest.empty()) out[kRest] = HashOf(rest);
  return out;
}

// What of the plan is still in force and not asked for by an option.
bool IsOurs(const nccl::SourcedEnvironment& now, const env::PlanSummary& plan, std::string_view name) {
  const auto planned = base::Lookup(plan.set, name);
  const auto found = now.find(name);
  return planned && found != now.end() && found->second.FromEnvironment() && found->second.value == *planned &&
         !plan.forced.contains(std::string(name)) && !plan.removed.contains(std::string(name));
}

Changeable FindChangeable(const nccl::SourcedEnvironment& now, const env::PlanSummary& plan) {
  const auto free = [&](std::string_view name) {  // ours, or set by nobody
    return !plan.removed.contains(std::string(name)) && (!now.contains(name) || IsOurs(now, plan, name));
  };
  Changeable out;
  out.rails = IsOurs(now, plan, "NCCL_IB_HCA");
  out.gid = out.rails && free("NCCL_IB_GID_INDEX") && free("NCCL_IB_ADDR_FAMILY") && free("NCCL_IB_ADDR_RANGE") &&
            free("NCCL_IB_ROCE_VERSION_NUM");
  out.traffic_class = out.rails && free("NCCL_IB_TC") && free("NCCL_IB_FIFO_TC");
  out.interface = IsOurs(now, plan, "NCCL_SOCKET_IFNAME");
  return out;
}

}  // namespace

bool IsOfOneNode(std::string_view variable) {
  return std::find(kOfOneNode.begin(), kOfOneNode.end(), variable) != kOfOneNode.end();
}

void DescribeSettings(const nccl::SourcedEnvironment& now, const env::PlanSummary* plan, NodeEntry* entry) {
  entry->planned = plan != nullptr;
  Values planned;
  Values users;
  for (const auto& [name, setting] : now) {
    if (!Travels(name)) continue;
    const bool ours = plan != nullptr && setting.FromEnvironment() && base::Lookup(plan->set, name) == setting.value;
    if (!ours)
      users[name] = setting.value;
    else if (!IsOfOneNode(name))
      planned[name] = setting.value;
  }
  entry->planned_values = Bounded(planned);
  entry->user_values = Bounded(users);
  entry->changeable = plan != nullptr ? FindChangeable(now, *plan) : Changeable{};
}

bool MustBeAlike(std::string_view variable) {
  constexpr std::array<std::string_view, 11> kAlike = {"NCCL_ALGO",          "NCCL_PROTO",      "NCCL_NET",
                                                       "NCCL_NET_PLUGIN",    "NCCL_IB_DISABLE", "NCCL_COMM_ID",
                                                       "NCCL_SOCKET_FAMILY", "NCCL_NTHREADS",   "NCCL_MIN_NCHANNELS",
                                                       "NCCL_MAX_NCHANNELS", "NCCL_BUFFSIZE"};
  return std::find(kAlike.begin(), kAlike.end(), variable) != kAlike.end();
}

std::string SettingsOf(const base::Environment& environment) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 10U;
  std::string text;
  for (auto one = environment.lower_bound("NCCL_"); one != environment.end() && one->first.starts_with("NCCL_");
       ++one) {
    const auto& [name, value] = *one;
    if (!Travels(name) || name == "NCCL_HOSTID" || name == "NCCL_DEBUG_FILE" || value.find('\n') != value.npos)
      continue;
    if (text.size() + name.size() + value.size() > kMostBytes) break;
    text += name + "=" + value + "\n";
  }
  return text;
}

std::string FindOddSettings(std::string_view own, std::string_view others, bool* grave) {
  const auto parse = [](std::string_view text) {
    Values values;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(text.size(), end + 1));
      const std::size_t equals = line.find('=');
      if (equals != line.npos) values[std::string(line.substr(0, equals))] = line.substr(equals + 1);
    }
    return values;
  };
  const Values mine = parse(own);
  const Values theirs = parse(others);
  std::map<std::string, std::string> odd;
  for (const auto& [name, value] : theirs) {
    const auto found = mine.find(name);
    if (found == mine.end() || found->second != value) odd[name] = name + "=" + value;
  }
  for (const auto& [name, value] : mine) {
    if (!theirs.contains(name)) odd[name] = name + " unset";
  }
  constexpr std::size_t kShown = 3;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, words] : odd) {
    *grave = *grave || MustBeAlike(name);
    if (shown++ < kShown) text += (text.empty() ? "" : ", ") + base::Printable(words);
  }
  return odd.size() > kShown ? text + ", ..." : text;
}

}  // namespace nccl_tune::launcher
