// SPDX-License-Identifier: Apache-2.0
#include "launcher/placement.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;
using base::Result;

constexpr int kMostRanks = 4096;

using Core = std::vector<int>;  // its allowed CPUs

// A NUMA node with allowed CPUs; without `id` all CPUs of a machine that tells no NUMA nodes.
struct Place {
  std::optional<int> id;
  bool memory_allowed = false;
  std::vector<Core> cores;
};

// What one rank is to get, before CPUs are divided.
struct Aim {
  const GpuView* gpu = nullptr;
  std::size_t place = 0;  // index
  bool at_gpu = false;    // the place is the GPU's own
  std::string why_not{};  // why it is not: one clause
};

std::vector<Core> CoresOf(const std::vector<Cpu>& cpus, std::set<int>* left) {
  std::vector<Core> cores;
  std::map<int, std::size_t> known;
  for (const Cpu& cpu : cpus) {
    if (left->erase(cpu.id) == 0) continue;
    const auto [at, is_new] = known.emplace(cpu.core, cores.size());
    if (is_new) cores.emplace_back();
    cores[at->second].push_back(cpu.id);
  }
  return cores;
}

std::vector<Place> FindPlaces(const NodeView& view) {
  std::set<int> left(view.allowed_cpus.begin(), view.allowed_cpus.end());
  std::vector<Place> places;
  for (const NumaNode& node : view.numa_nodes) {
    auto cores = CoresOf(node.cpus, &left);
    if (cores.empty()) continue;
    const auto& allowed = view.allowed_numa;
    const bool memory_allowed = std::find(allowed.begin(), allowed.end(), node.id) != allowed.end();
    places.push_back({.id = node.id, .memory_allowed = memory_allowed, .cores = std::move(cores)});
  }
  if (!places.empty() || left.empty()) return places;
  Place all;
  for (const int cpu : left) all.cores.push_back({cpu});
  places.push_back(std::move(all));
  return places;
}

// The place of a rank by kNuma: equal parts of all cores in order, each rank where its part begins.
std::size_t SpreadPlace(const std::vector<Place>& places, int rank, int count) {
  std::size_t cores = 0;
  for (const Place& place : places) cores += place.cores.size();
  std::size_t part = static_cast<std::size_t>(rank) * cores / static_cast<std::size_t>(count);
  std::size_t at = 0;
  while (part >= places[at].cores.size()) part -= places[at++].cores.size();
  return at;
}

// The same for a task with CPUs of its own: where it has most cores; of several such places each task another.
std::size_t LargestPlace(const std::vector<Place>& places, int rank, int count) {
  std::size_t most = 0;
  for (const Place& place : places) most = std::max(most, place.cores.size());
  std::vector<std::size_t> largest;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].cores.size() == most) largest.push_back(i);
  }
  return largest[static_cast<std::size_t>(rank) * largest.size() / static_cast<std::size_t>(count)];
}

const GpuView* GpuOf(const NodeView& view, const LocalRanks& ranks, int rank) {
  if (view.gpus.empty()) return nullptr;
  const std::size_t at = ranks.own_gpus ? 0 : static_cast<std::size_t>(rank);
  return &view.gpus[at % view.gpus.size()];
}

Aim FindAim(const NodeView& view, const std::vector<Place>& places, Bind bind, const LocalRanks& ranks, int rank) {
  Aim aim{.gpu = GpuOf(view, ranks, rank)};
  aim.place = ranks.own_cpus ? LargestPlace(places, rank, ranks.count) : SpreadPlace(places, rank, ranks.count);
  if (bind != Bind::kGpu) return aim;
  if (!aim.gpu->numa) {
    aim.why_not = "its NUMA node is not known";
    return aim;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].id != *aim.gpu->numa) continue;
    aim.place = i;
    aim.at_gpu = true;
    return aim;
  }
  aim.why_not = "its NUMA node " + std::to_string(*aim.gpu->numa) + " has no CPU that is allowed here";
  return aim;
}

// CPUs of part `at` of `parts`.
std::vector<int> PartOf(const std::vector<Core>& cores, std::size_t at, std::size_t parts) {
  const std::size_t begin = at * cores.size() / parts;
  const std::size_t end = std::max(begin + 1, (at + 1) * cores.size() / parts);
  std::vector<int> cpus;
  for (std::size_t i = begin; i < end; ++i) cpus.insert(cpus.end(), cores[i].begin(), cores[i].end());
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

std::string SayRanks(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "local rank " : "local ranks ") + FormatNumbers(ranks);
}

// "CPUs 0-3", with who else has them.
std::string SayCpus(const std::vector<int>& cpus, const std::vector<int>& others) {
  std::string text = (cpus.size() == 1 ? "CPU " : "CPUs ") + FormatNumbers(cpus);
  if (!others.empty()) text += ", shared with " + SayRanks(others) + ": fewer cores than ranks there";
  return text;
}

std::string SayGpu(const GpuView& gpu) {
  std::string text = "GPU " + base::Printable(gpu.visible_id);
  if (!gpu.pci.empty()) text += " at " + base::Printable(gpu.pci);
  return text;
}

std::string SayPlace(const Place& place) {
  if (!place.id) return "no NUMA nodes are known";
  return "NUMA node " + std::to_string(*place.id) + (place.memory_allowed ? "" : " (its memory is left as it is)");
}

// All but the CPUs.
std::string SayAim(const Aim& aim, const Place& place, Bind bind) {
  if (bind == Bind::kNuma) return SayPlace(place);
  const std::string gpu = SayGpu(*aim.gpu);
  if (!aim.at_gpu) return gpu + ": " + aim.why_not + "; as by numa, " + SayPlace(place);
  if (aim.gpu->nic.empty()) return gpu + " is on " + SayPlace(place);
  return gpu + " and " + base::Printable(aim.gpu->nic) + " are on " + SayPlace(place);
}

// Fills CPUs, memory and the reason of the rank at `rank`; `aims` are those of all ranks that divide the CPUs.
void Divide(const std::vector<Place>& places, const std::vector<Aim>& aims, std::size_t rank, Bind bind,
            Placement* out) {
  const Place& place = places[aims[rank].place];
  std::vector<std::size_t> group;  // ranks there
  for (std::size_t i = 0; i < aims.size(); ++i) {
    if (aims[i].place == aims[rank].place) group.push_back(i);
  }
  const auto own = static_cast<std::size_t>(std::find(group.begin(), group.end(), rank) - group.begin());
  out->cpus = PartOf(place.cores, own, group.size());
  std::vector<int> others;
  // Parts are equal or apart.
  const std::size_t begin = own * place.cores.size() / group.size();
  for (std::size_t i = 0; i < group.size() && group.size() > place.cores.size(); ++i) {
    if (i != own && i * place.cores.size() / group.size() == begin) others.push_back(static_cast<int>(group[i]));
  }
  out->shared = !others.empty();
  if (place.memory_allowed) out->numa = place.id;
  out->reason = SayAim(aims[rank], place, bind) + ": " + SayCpus(out->cpus, others);
}

// For a task that has CPUs of its own, or of which nobody knows which other tasks use GPUs there: the whole place.
void TakeWhole(const Place& place, const Aim& aim, Bind bind, const LocalRanks& ranks, Placement* out) {
  out->cpus = PartOf(place.cores, 0, 1);
  if (place.memory_allowed) out->numa = place.id;
  out->reason = SayAim(aim, place, bind) + ": " + SayCpus(out->cpus, {});
  if (ranks.own_cpus) {
    out->reason += ", of those Slurm gave this task";
  } else if (ranks.count > 1) {
    out->shared = true;
    out->reason += ", shared with other tasks that have GPUs there";
  }
}

void NarrowGpu(const NodeView& view, const GpuView& gpu, Placement* out) {
  out->gpu_set.emplace(view.gpu_variable, gpu.visible_id);
  for (const std::string& variable : view.gpu_variables_counting) out->gpu_set.emplace(variable, "0");
}

// Which other ranks have the same GPU, as a clause; empty: none that is known.
std::string SayGpuSharing(const NodeView& view, const LocalRanks& ranks, int rank) {
  if (ranks.own_gpus) return "";
  const auto count = static_cast<int>(view.gpus.size());
  std::vector<int> others;
  for (int i = rank % count; i < ranks.count; i += count) {
    if (i != rank) others.push_back(i);
  }
  return others.empty() ? "" : "; the GPU is also that of " + SayRanks(others);
}

base::Status Check(const NodeView& view, const PlacementWish& wish, const LocalRanks& ranks) {
  const bool bad_rank = ranks.only && (*ranks.only < 0 || *ranks.only >= ranks.count);
  if (ranks.count < 1 || ranks.count > kMostRanks || bad_rank) {
    return Error{.code = Code::kInvalidInput,
                 .what = "no such local rank",
                 .seen = (ranks.only ? std::to_string(*ranks.only) + " of " : "") + std::to_string(ranks.count),
                 .expected = "1 to 4096 ranks, counted from 0"};
  }
  if (view.gpus.empty() && wish.bind == Bind::kGpu) {
    return Error{.code = Code::kNotFound,
                 .what = "no GPU is visible here",
                 .where = "--bind gpu",
                 .hint = "Ask Slurm for GPUs (--gpus-per-node), or use --bind numa or --bind none"};
  }
  if (view.gpus.empty() && wish.own_gpu_only) {
    return Error{.code = Code::kNotFound,
                 .what = "no GPU is visible here, so no rank can have one of its own",
                 .hint = "Ask Slurm for GPUs (--gpus-per-node), or leave the GPUs as they are"};
  }
  return base::Ok();
}

void Append(std::string clause, std::string* text) {
  if (text->empty()) {
    *text = std::move(clause);
  } else {
    *text += "; " + clause;
  }
}

}  // namespace

Result<std::vector<Placement>> PlaceRanks(const NodeView& view, const PlacementWish& wish, const LocalRanks& ranks) {
  NCCL_TUNE_RETURN_IF_ERROR(Check(view, wish, ranks));
  const auto places = FindPlaces(view);
  if (places.empty() && wish.bind != Bind::kNone) {
    return Error{.code = Code::kNotFound, .what = "no CPU to give: this process's affinity is empty or not known"};
  }
  const int first = ranks.only.value_or(0);
  const int last = ranks.only.value_or(ranks.count - 1);
  const bool whole = ranks.only && (ranks.own_cpus || (ranks.own_gpus && wish.bind == Bind::kGpu));
  std::vector<Aim> aims;
  for (int i = 0; i < ranks.count && wish.bind != Bind::kNone; ++i) {
    aims.push_back(FindAim(view, places, wish.bind, ranks, i));
  }
  std::vector<Placement> out;
  for (int i = first; i <= last; ++i) {
    Placement one{.local_rank = i};
    const auto at = static_cast<std::size_t>(i);
    if (wish.bind != Bind::kNone && whole) TakeWhole(places[aims[at].place], aims[at], wish.bind, ranks, &one);
    if (wish.bind != Bind::kNone && !whole) Divide(places, aims, at, wish.bind, &one);
    if (wish.own_gpu_only) {
      const GpuView& gpu = *GpuOf(view, ranks, i);
      NarrowGpu(view, gpu, &one);
      if (wish.bind != Bind::kGpu) Append("sees " + SayGpu(gpu) + " alone", &one.reason);
    }
    if (wish.bind == Bind::kGpu || wish.own_gpu_only) one.reason += SayGpuSharing(view, ranks, i);
    if (one.reason.empty()) one.reason = "CPUs, memory and GPUs as they are";
    out.push_back(std::move(one));
  }
  return out;
}

bool HasOwnCpus(const NodeView& view) {
  const std::set<int> allowed(view.allowed_cpus.begin(), view.allowed_cpus.end());
  for (const NumaNode& node : view.numa_nodes) {
    for (const Cpu& cpu : node.cpus) {
      if (!allowed.contains(cpu.id)) return true;
    }
  }
  return false;
}

std::string FormatNumbers(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (end - i > 1) text += "-" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace nccl_tune::launcher
