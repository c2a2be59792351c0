// SPDX-License-Identifier: Apache-2.0
#include "bench/simulated_backend.h"

#include <algorithm>
#include <utility>

#include "bench/split.h"

namespace nccl_tune::bench {

using base::Error;
using base::Result;
using base::Status;

SimulatedBackend::SimulatedBackend(const BackendSetup& setup, Simulation simulation)
    : setup_(setup), simulation_(std::move(simulation)), team_(static_cast<std::size_t>(setup.options.threads)) {
  for (int i = 0; i < setup.options.threads; ++i) {
    workers_.push_back(std::make_unique<SimulatedWorker>(simulation_.rank, team_));
  }
}

std::uint64_t SimulatedBackend::RanksPerProcess() const {
  return static_cast<std::uint64_t>(setup_.options.threads) * static_cast<std::uint64_t>(setup_.options.gpus);
}

std::uint64_t SimulatedBackend::GroupNumber(std::uint64_t process) const {
  return setup_.options.split ? GroupOf(*setup_.options.split, process) : 0;
}

// Tells the workers.
Place SimulatedBackend::Settle(const Place& place) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const auto gpus = static_cast<std::uint64_t>(setup_.options.gpus);
    workers_[i]->SetPlace({.rank = place.group_process * RanksPerProcess() + i * gpus,
                           .ranks = place.ranks,
                           .thread = i,
                           .process = place.process,
                           .processes = place.processes,
                           .in_group = place.group_processes > 0});
  }
  return place;
}

Result<Place> SimulatedBackend::Connect() {
  Place place{.process = simulation_.process,
              .processes = simulation_.processes,
              .group = GroupNumber(simulation_.process),
              .group_processes = 0};
  for (std::uint64_t i = 0; i < simulation_.processes; ++i) {
    if (GroupNumber(i) != place.group) continue;
    ++place.group_processes;
    if (i < place.process) ++place.group_process;
  }
  place.ranks = place.group_processes * RanksPerProcess();
  return Settle(place);
}

Result<Place> SimulatedBackend::Regroup(std::optional<std::uint64_t> group) {
  Place place{.process = simulation_.process,
              .processes = simulation_.processes,
              .group = group.value_or(0),
              .group_process = group ? simulation_.process : 0,
              .group_processes = group ? simulation_.processes : 0};
  place.ranks = place.group_processes * RanksPerProcess();
  return Settle(place);
}

Identity SimulatedBackend::identity() const {
  Identity identity = simulation_.identity;
  if (identity.types.empty()) {
    for (const TypeName& one : kTypes) identity.types.push_back(one.type);
  }
  if (identity.ops.empty()) {
    for (const OpName& one : kOps) identity.ops.push_back(one.op);
  }
  return identity;
}

std::vector<Device> SimulatedBackend::DevicesOf(std::uint64_t process) const {
  const std::uint64_t per_node = std::max<std::uint64_t>(simulation_.processes_per_node, 1);
  const std::uint64_t ranks = RanksPerProcess();
  std::vector<Device> devices;
  for (std::uint64_t i = 0; i < ranks; ++i) {
    const std::uint64_t index = process % per_node * ranks + i;
    devices.push_back({.rank = process * ranks + i,
                       .group = GroupNumber(process),
                       .process_id = static_cast<int>(1000 + process),
                       .host = "node" + std::to_string(process / per_node),
                       .index = static_cast<int>(index),
                       .bus = static_cast<unsigned>(index + 1),
                       .name = "simulated"});
  }
  return devices;
}

std::vector<Device> SimulatedBackend::LocalDevices() const { return DevicesOf(simulation_.process); }

Result<std::vector<std::string>> SimulatedBackend::Gather(const std::string& text) {
  // What the others say of their devices is their own; all else is alike.
  const bool devices = simulation_.describe && simulation_.describe(LocalDevices()) == text;
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; simulation_.process == 0 && i < simulation_.processes; ++i) {
    texts.push_back(i == 0 || !devices ? text : simulation_.describe(DevicesOf(i)));
  }
  return texts;
}

Status SimulatedBackend::Join(std::uint64_t bytes) {
  joined_bytes_ = bytes;
  for (auto& worker : workers_) worker->SetBytes(bytes);
  return base::Ok();
}

Status SimulatedBackend::Close() {
  if (closed_) return Error{.what = "the frame: Close twice"};
  closed_ = true;
  return base::Ok();
}

void SimulatedBackend::Abort(int code) {
  aborted_ = code;
  team_.Break();
}

int SimulatedBackend::FailureCode() const {
  int code = 1;
  for (const auto& worker : workers_) code = std::max(code, worker->failure());
  return code;
}

}  // namespace nccl_tune::bench
