// SPDX-License-Identifier: Apache-2.0
#include "bench/device_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/parse_number.h"

namespace nccl_tune::bench {
namespace {

constexpr std::size_t kFields = 9;
using Fields = std::array<std::string_view, kFields>;

std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

std::optional<Fields> Split(std::string_view line) {
  Fields fields;
  for (std::size_t i = 0; i + 1 < kFields; ++i) {
    const auto end = line.find('\t');
    if (end == std::string_view::npos) return std::nullopt;
    fields[i] = line.substr(0, end);
    line.remove_prefix(end + 1);
  }
  if (line.find('\t') != std::string_view::npos) return std::nullopt;
  fields.back() = line;
  return fields;
}

template <typename T>
bool Read(std::string_view text, T& number) {
  const auto parsed = base::ParseInteger<T>(text);
  if (parsed.ok()) number = *parsed;
  return parsed.ok();
}

std::optional<Device> DeviceOf(std::string_view line) {
  const auto fields = Split(line);
  if (!fields) return std::nullopt;
  const auto& [rank, group, process_id, index, domain, bus, slot, host, name] = *fields;
  Device device{.host = std::string(host), .name = std::string(name)};
  const bool right = Read(rank, device.rank) && Read(group, device.group) && Read(process_id, device.process_id) &&
                     Read(index, device.index) && Read(domain, device.domain) && Read(bus, device.bus) &&
                     Read(slot, device.slot);
  return right ? std::optional(std::move(device)) : std::nullopt;
}

}  // namespace

std::string DevicesToText(const std::vector<Device>& devices) {
  std::string text;
  for (const Device& one : devices) {
    for (const std::string& number :
         {std::to_string(one.rank), std::to_string(one.group), std::to_string(one.process_id),
          std::to_string(one.index), std::to_string(one.domain), std::to_string(one.bus), std::to_string(one.slot)}) {
      text += number + "\t";
    }
    text += OneLine(one.host) + "\t" + OneLine(one.name) + "\n";
  }
  return text;
}

base::Result<std::vector<Device>> DevicesFromText(std::string_view text) {
  std::vector<Device> devices;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    auto device = DeviceOf(line);
    if (end == std::string_view::npos || !device) {
      return base::Error{.what = end == std::string_view::npos ? "a line of a device is cut off" : "not a device",
                         .where = "what a process tells of its devices",
                         .seen = base::Shortened(line)};
    }
    devices.push_back(std::move(*device));
    text.remove_prefix(end + 1);
  }
  return devices;
}

}  // namespace nccl_tune::bench
