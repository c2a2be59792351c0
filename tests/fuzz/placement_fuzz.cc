// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/placement.h"
#include "launcher/visible_gpus.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

using launcher::Bind;

std::vector<std::string> TryList(ByteReader* bytes) {
  std::optional<std::size_t> devices;
  if (bytes->Flag()) devices = bytes->Below(20);
  const std::string text = bytes->Text(200);
  const auto ids = launcher::ParseVisibleList(text, devices);
  if (!ids.ok()) {
    RequireReadable(ids.error());
    return {};
  }
  std::string again;
  for (const std::string& id : *ids) {
    Require(!id.empty() && IsPrintableLine(id), "an id is plain text", id);
    again += (again.empty() ? "" : ",") + id;
  }
  const auto second = launcher::ParseVisibleList(again, devices);
  Require(second.ok() && *second == *ids, "what is written is read back", again);
  if (devices && !ids->empty() && !ids->front().starts_with("GPU-") && !ids->front().starts_with("MIG-")) {
    Require(ids->size() <= *devices, "no more indices than devices", again);
  }
  return *ids;
}

launcher::NodeView ViewFromBytes(ByteReader* bytes, const std::vector<std::string>& ids) {
  launcher::NodeView view{.gpu_variable = "CUDA_VISIBLE_DEVICES"};
  const std::size_t nodes = bytes->Below(6);
  for (std::size_t n = 0; n < nodes; ++n) {
    launcher::NumaNode node{.id = static_cast<int>(bytes->Below(8))};
    const std::size_t cpus = bytes->Below(12);
    for (std::size_t c = 0; c < cpus; ++c) {
      node.cpus.push_back({.id = static_cast<int>(bytes->Below(40)), .core = static_cast<int>(bytes->Below(20))});
    }
    view.numa_nodes.push_back(node);
  }
  for (std::size_t i = bytes->Below(40); i > 0; --i) view.allowed_cpus.push_back(static_cast<int>(bytes->Below(40)));
  for (std::size_t i = bytes->Below(6); i > 0; --i) view.allowed_numa.push_back(static_cast<int>(bytes->Below(8)));
  for (const std::string& id : ids) {
    launcher::GpuView gpu{.visible_id = id};
    if (bytes->Flag()) gpu.numa = static_cast<int>(bytes->Below(8));
    if (bytes->Flag()) gpu.pci = bytes->Text(12);
    if (bytes->Flag()) gpu.nic = bytes->Text(12);
    view.gpus.push_back(gpu);
  }
  return view;
}

bool Holds(const std::vector<int>& all, int one) { return std::find(all.begin(), all.end(), one) != all.end(); }

void RequireInside(const launcher::NodeView& view, const launcher::PlacementWish& wish,
                   const launcher::Placement& placed) {
  Require(!placed.reason.empty() && IsPrintableLine(placed.reason), "a placement has a reason", placed.reason);
  Require(placed.cpus.empty() == (wish.bind == Bind::kNone), "every rank that is bound has a CPU", placed.reason);
  Require(std::is_sorted(placed.cpus.begin(), placed.cpus.end()), "CPUs are sorted", placed.reason);
  for (const int cpu : placed.cpus) Require(Holds(view.allowed_cpus, cpu), "never outside allowed", placed.reason);
  if (placed.numa) Require(Holds(view.allowed_numa, *placed.numa), "never outside allowed memory", placed.reason);
  Require(placed.gpu_set.empty() != wish.own_gpu_only, "one GPU where that is wished", placed.reason);
  const bool said = placed.reason.find("shared with") != std::string::npos;
  Require(!placed.shared || said, "what is shared is said", placed.reason);
}

void RequireApart(const std::vector<launcher::Placement>& all) {
  std::set<int> taken;
  std::set<int> taken_alone;
  for (const launcher::Placement& one : all) {
    for (const int cpu : one.cpus) {
      Require(!taken_alone.contains(cpu), "no overlap unless said", one.reason);
      if (!one.shared) Require(!taken.contains(cpu), "no overlap unless said", one.reason);
      taken.insert(cpu);
      if (!one.shared) taken_alone.insert(cpu);
    }
  }
}

void TryOne(ByteReader bytes) {
  const auto ids = TryList(&bytes);
  const launcher::PlacementWish wish{.bind = static_cast<Bind>(bytes.Below(3)), .own_gpu_only = bytes.Flag()};
  launcher::LocalRanks ranks{.count = static_cast<int>(bytes.Below(40))};
  const bool all_at_once = bytes.Flag();
  if (!all_at_once) ranks.only = static_cast<int>(bytes.Below(40)) - 1;
  if (!all_at_once) ranks.own_cpus = bytes.Flag();
  if (!all_at_once) ranks.own_gpus = bytes.Flag();
  const auto view = ViewFromBytes(&bytes, ids);
  const auto placed = launcher::PlaceRanks(view, wish, ranks);
  if (!placed.ok()) return RequireReadable(placed.error());
  Require(placed->size() == (all_at_once ? static_cast<std::size_t>(ranks.count) : 1U), "a placement for each rank");
  for (const launcher::Placement& one : *placed) RequireInside(view, wish, one);
  if (all_at_once) RequireApart(*placed);
  if (all_at_once || ranks.own_cpus || ranks.own_gpus) return;
  const auto together = launcher::PlaceRanks(view, wish, {.count = ranks.count});
  Require(together.ok(), "a task is placed as all are");
  const auto& same = (*together)[static_cast<std::size_t>(*ranks.only)];
  Require(same.cpus == placed->front().cpus && same.reason == placed->front().reason, "a task is placed as all are",
          same.reason);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
