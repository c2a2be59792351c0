// SPDX-License-Identifier: Apache-2.0
#include "bench/doubt_facts.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/parse_number.h"

namespace nccl_tune::bench {
namespace {

constexpr std::string_view kCpu = "sys/devices/system/cpu/";
constexpr std::uint64_t kBytesPerCount = 4;

std::string Text(const hw::Tree& tree, const std::string& path) {
  const auto text = tree.Read(path);
  return text.ok() ? std::string(base::Trim(*text)) : "";
}

std::optional<std::uint64_t> Number(const hw::Tree& tree, const std::string& path) {
  const auto value = base::ParseInteger<std::uint64_t>(Text(tree, path));
  return value.ok() ? std::optional(*value) : std::nullopt;
}

// "policy12" with the prefix "policy"; not "policyx".
bool IsNumbered(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && base::ParseInt(name.substr(prefix.size())).ok();
}

std::vector<CpuClock> ReadClocks(const hw::Tree& tree) {
  std::vector<CpuClock> out;
  const std::string folder = std::string(kCpu) + "cpufreq";
  for (const auto& name : tree.List(folder).value_or({})) {
    if (!IsNumbered(name, "policy")) continue;
    const std::string path = folder + "/" + name + "/";
    out.push_back({.name = name,
                   .governor = Text(tree, path + "scaling_governor"),
                   .driver = Text(tree, path + "scaling_driver"),
                   .limit = Number(tree, path + "scaling_max_freq"),
                   .highest = Number(tree, path + "cpuinfo_max_freq")});
  }
  return out;
}

std::optional<std::uint64_t> ReadThrottles(const hw::Tree& tree) {
  std::optional<std::uint64_t> out;
  for (const auto& name : tree.List(kCpu.substr(0, kCpu.size() - 1)).value_or({})) {
    if (!IsNumbered(name, "cpu")) continue;
    const std::string path = std::string(kCpu) + name + "/thermal_throttle/";
    for (const char* file : {"core_throttle_count", "package_throttle_count"}) {
      const auto count = Number(tree, path + file);
      if (count) out = out.value_or(0) + *count;
    }
  }
  return out;
}

// "0.52 0.58 0.59 1/467 12345"
std::optional<double> ReadLoad(const hw::Tree& tree) {
  const std::string text = Text(tree, "proc/loadavg");
  const auto load = base::ParseDecimal(std::string_view(text).substr(0, text.find(' ')));
  return load.ok() && *load >= 0 ? std::optional(*load) : std::nullopt;
}

std::optional<LinkBytes> ReadLink(const hw::Tree& tree, const Link& link) {
  const bool is_port = link.port != 0;
  const std::string path =
      is_port ? "sys/class/infiniband/" + link.name + "/ports/" + std::to_string(link.port) + "/counters/"
              : "sys/class/net/" + link.name + "/statistics/";
  const auto sent = Number(tree, path + (is_port ? "port_xmit_data" : "tx_bytes"));
  const auto received = Number(tree, path + (is_port ? "port_rcv_data" : "rx_bytes"));
  if (!sent || !received) return std::nullopt;
  const std::uint64_t unit = is_port ? kBytesPerCount : 1;
  return LinkBytes{.link = link.ToString(), .sent = *sent * unit, .received = *received * unit};
}

}  // namespace

Snapshot ReadSnapshot(const hw::Tree& tree, const std::vector<Link>& links) {
  Snapshot out{
      .clocks = ReadClocks(tree), .throttles = ReadThrottles(tree), .load = ReadLoad(tree), .links = {}, .gpus = {}};
  for (const Link& link : links) {
    auto bytes = ReadLink(tree, link);
    if (bytes) out.links.push_back(std::move(*bytes));
  }
  return out;
}

}  // namespace nccl_tune::bench
