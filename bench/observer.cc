// SPDX-License-Identifier: Apache-2.0
#include "bench/observer.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "bench/common_start.h"
#include "bench/device_text.h"
#include "bench/doubt_facts.h"
#include "bench/expectation.h"
#include "bench/verdict.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"

namespace nccl_tune::bench {
namespace {

using base::Result;

constexpr std::chrono::seconds kPatience{5};  // with NVML

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void AppendLines(const std::string& text, std::vector<std::string>& lines) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
}

}  // namespace

std::vector<Device> DevicesOn(const std::vector<Device>& devices, const std::string& host) {
  std::vector<Device> here;
  for (const Device& device : devices) {
    if (device.host == host) here.push_back(device);
  }
  return here;
}

void Observer::Start() {
  started_ = std::chrono::steady_clock::now();
  if (!Looks()) return;
  if (facts_.backend == BackendKind::kNccl) {
    auto watch = GpuWatch::Start();
    if (watch.ok()) watch_ = std::move(watch).value();
  }
  const auto tree = hw::DirectoryTree::Open("/");
  if (!tree.ok()) return;
  std::vector<facts::Note> notes;
  wire_ = ReadWire(**tree, hw::ReadLiveIp(**tree, &notes), facts_.environment, facts_.backend);
  before_ = Look({});
}

Snapshot Observer::Look(const std::vector<Device>& here) {
  const auto tree = hw::DirectoryTree::Open("/");
  Snapshot snapshot;
  if (tree.ok()) snapshot = ReadSnapshot(**tree, wire_.links);
  if (watch_ != nullptr) {
    auto gpus = watch_->Read(kPatience);
    if (gpus.ok()) snapshot.gpus = OnlyThose(*gpus, here);
  }
  return snapshot;
}

std::vector<std::string> Observer::Doubts(const std::vector<Device>& here, const Record* record) {
  if (here.empty()) return {};
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
  NodeDoubts facts{.node = here[0].host, .before = before_, .after = Look(here), .seconds = elapsed.count()};
  facts.before.gpus = OnlyThose(before_.gpus, here);
  facts.host_memory = facts_.backend == BackendKind::kMpi;
  facts.busy_threads = facts_.local_ranks * facts_.threads;
  facts.usable_cores = std::min(facts_.online_cores, facts_.usable_cores * facts_.local_ranks);
  for (const Device& device : here) facts.own_processes.push_back(device.process_id);
  // The other nodes do not know what was measured: their counters are not judged.
  const Memory memory = facts.host_memory ? Memory::kHost : Memory::kGpu;
  if (record != nullptr) facts.own_bytes = OwnBytes(*record, PlacesOf(record->devices, memory));
  return FindNodeDoubts(facts);
}

Result<std::vector<std::string>> Observer::GatherDoubts(Backend& backend, const std::string& all_devices,
                                                        const Record* record) {
  // Which processes and GPUs of the run are here.
  NCCL_TUNE_ASSIGN_OR_RETURN(text, backend.Broadcast(all_devices));
  NCCL_TUNE_ASSIGN_OR_RETURN(devices, DevicesFromText(text));
  const std::vector<Device> own = backend.LocalDevices();
  std::vector<std::string> doubts;
  if (Looks() && !own.empty()) doubts = Doubts(DevicesOn(devices, own[0].host), record);
  NCCL_TUNE_ASSIGN_OR_RETURN(all, backend.Gather(Joined(doubts)));
  doubts.clear();
  if (all.empty()) return doubts;
  if (!wire_.beside.empty()) doubts.push_back(wire_.beside);
  for (const std::string& lines : all) AppendLines(lines, doubts);
  return doubts;
}

Result<std::vector<std::string>> Observer::FinishSearch(Backend& backend) {
  NCCL_TUNE_ASSIGN_OR_RETURN(texts, GatherDevices(backend));
  std::string all;
  for (const std::string& text : texts) all += text;
  return GatherDoubts(backend, all, nullptr);
}

Result<Observer::Seen> Observer::Finish(Backend& backend, const Place& place, const Record& record) {
  const bool leads = place.process == 0;
  NCCL_TUNE_ASSIGN_OR_RETURN(
      doubts, GatherDoubts(backend, leads ? DevicesToText(record.devices) : "", leads ? &record : nullptr));
  Seen seen;
  if (!leads) return seen;
  seen.doubts = std::move(doubts);
  for (const std::string& line : FindRowDoubts(record.rows)) seen.doubts.push_back(line);
  const bool host_memory = facts_.backend == BackendKind::kMpi;
  Places places = PlacesOf(record.devices, host_memory ? Memory::kHost : Memory::kGpu);
  if (!host_memory) {
    places.gpus_per_node = wire_.gpus;
    places.algorithm = base::Lookup(facts_.environment, "NCCL_ALGO").value_or("");
  }
  seen.verdicts = MakeVerdicts(record, {.places = places, .wire = wire_.facts, .host_memory = host_memory});
  return seen;
}

}  // namespace nccl_tune::bench
