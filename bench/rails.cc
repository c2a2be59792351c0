// SPDX-License-Identifier: Apache-2.0
#include "bench/rails.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "base/parse_number.h"
#include "bench/number_text.h"
#include "bench/same_start.h"
#include "bench/schedule.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using base::Error;
using base::Result;

constexpr std::string_view kRails = "rails: ";
constexpr const char* kRefused = "refused: ";
constexpr const char* kBest = "# best of this rail: ";
constexpr const char* kLostFile = "# a result file of this rail was not written\n";
constexpr double kWirePart = 0.97;  // of a line rate that is data, at most: docs/measuring.md
constexpr double kBits = 8;

const facts::IbPort* FindPort(const facts::Node& node, const Link& link) {
  for (const auto& hca : node.hcas) {
    if (hca.name != link.name) continue;
    for (const auto& port : hca.ports) {
      if (port.number == link.port) return &port;
    }
  }
  return nullptr;
}

Rail Completed(Rail rail, const facts::Node& node) {
  if (rail.link.port == 0) rail.netdev = rail.link.name;
  const facts::IbPort* const port = FindPort(node, rail.link);
  if (port == nullptr) return rail;
  if (rail.netdev.empty()) rail.netdev = port->netdev.value_or("");
  if (!rail.gbps && port->rate) rail.gbps = port->rate->value;
  return rail;
}

// Of a rail's rate, when all have one.
double Share(const RailResult& result, bool by_rate) { return by_rate ? result.busbw / *result.gbps : result.busbw; }

}  // namespace

std::vector<Rail> FindRails(const Environment& environment, const facts::Node& node, const Wire& wire) {
  std::vector<Rail> rails;
  const auto plan = env::ParsePlan(base::Lookup(environment, env::kPlanVariable).value_or(""));
  if (plan.ok()) {
    for (const env::PlanPort& port : plan->ports) {
      rails.push_back(Completed({.link = {.name = port.hca, .port = port.port},
                                 .netdev = port.netdev.value_or(""),
                                 .gid = port.gid,
                                 .gbps = port.gbps},
                                node));
    }
  }
  if (!rails.empty()) return rails;
  for (const Link& link : wire.links) rails.push_back(Completed({.link = link}, node));
  return rails;
}

Result<std::vector<std::pair<std::string, std::string>>> SettingsFor(const Rail& rail, BackendKind backend,
                                                                     const Environment& environment) {
  std::vector<std::pair<std::string, std::string>> settings;
  const bool is_port = rail.link.port != 0;
  if (backend == BackendKind::kNccl) {
    settings.emplace_back(is_port ? "NCCL_IB_HCA" : "NCCL_SOCKET_IFNAME", "=" + rail.link.ToString());
    // Where an index is set, it may be another one for each port.
    if (is_port && rail.gid && base::Lookup(environment, "NCCL_IB_GID_INDEX")) {
      settings.emplace_back("NCCL_IB_GID_INDEX", std::to_string(*rail.gid));
    }
    return settings;
  }
  const bool has_ucx = base::Lookup(environment, "OMPI_MCA_pml") == "ucx";
  if (rail.netdev.empty() && !(has_ucx && is_port)) {
    return Error{.code = base::Code::kUnsupported,
                 .what = "its interface is not known, and host memory goes over TCP",
                 .where = rail.link.ToString(),
                 .hint = "Name the ports by a plan (srun --nccl-tune), or OMPI_MCA_pml=ucx."};
  }
  if (has_ucx) settings.emplace_back("UCX_NET_DEVICES", is_port ? rail.link.ToString() : rail.netdev);
  if (!rail.netdev.empty()) {
    settings.emplace_back("OMPI_MCA_btl_tcp_if_include", rail.netdev);
    settings.emplace_back("OMPI_MCA_btl_tcp_if_exclude", "");  // Open MPI refuses both together
  }
  return settings;
}

std::string RailsToText(const std::string& host, const std::vector<Rail>& rails) {
  std::string text = std::string(kRails) + host;
  for (const Rail& rail : rails) text += " " + rail.link.ToString();
  return text;
}

std::string RefusalToText(const Error& error) { return kRefused + error.ToString(); }

Result<std::uint64_t> CommonCount(const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].starts_with(kRails) || texts[i].starts_with(kRefused)) continue;
    return Error{.code = base::Code::kInvalidInput, .what = DiffersText(i, "")};
  }
  for (const std::string& text : texts) {
    if (!text.starts_with(kRefused)) continue;
    return Error{.code = base::Code::kInvalidInput, .what = text.substr(std::string_view(kRefused).size())};
  }
  std::map<std::uint64_t, std::string> by_count;  // one node for each
  for (const std::string& whole : texts) {
    const std::string text = whole.substr(kRails.size());
    by_count.emplace(static_cast<std::uint64_t>(std::count(text.begin(), text.end(), ' ')), text);
  }
  if (by_count.size() == 1 && by_count.begin()->first > 0) return by_count.begin()->first;
  std::string seen;
  for (const auto& [count, text] : by_count) {
    if (!seen.empty()) seen += "; ";
    seen += text + (count == 0 ? " none" : "");
  }
  return Error{.code = base::Code::kInvalidInput,
               .what = by_count.size() > 1 ? "the nodes have not the same number of rails" : "no rail was found",
               .where = "--per-rail",
               .seen = seen,
               .hint = "nccl-tune explain on these nodes says why; NCCL_IB_HCA names others."};
}

bool IsAstray(const std::vector<std::optional<std::uint64_t>>& before,
              const std::vector<std::optional<std::uint64_t>>& after, std::size_t rail) {
  constexpr std::uint64_t kNoise = 64U << 10U;  // bytes of others
  std::uint64_t all = 0;
  std::uint64_t own = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!before[i] || !after[i] || *after[i] < *before[i]) return false;
    all += *after[i] - *before[i];
    if (i == rail) own = *after[i] - *before[i];
  }
  return all > kNoise && 2 * own < all;
}

std::vector<bool> SlowRails(const std::vector<RailResult>& results, double tolerance) {
  const bool by_rate = std::ranges::all_of(results, [](const auto& one) { return one.gbps && *one.gbps > 0; });
  std::vector<double> shares;
  for (const RailResult& one : results) shares.push_back(Share(one, by_rate));
  const double good = GoodValue(shares, tolerance);
  std::vector<bool> slow;
  for (const double share : shares) slow.push_back(results.size() > 1 && share < tolerance * good);
  return slow;
}

std::string RailText(const std::vector<RailResult>& results, double tolerance, const std::string& collective) {
  std::size_t width = 4;
  for (const RailResult& one : results) width = std::max(width, one.name.size());
  std::string text = "#\n# each rail alone, by " + collective +
                     ": best busbw, and what its line rate can carry, in GB/s; how often it was measured\n";
  text += "# " + Right("rail", width + 3) + Right("busbw", 10) + Right("wire", 8) + Right("times", 7) + "\n";
  const std::vector<bool> slow = SlowRails(results, tolerance);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const RailResult& one = results[i];
    text += "# " + std::to_string(i) + "  " + Right(one.name, width) + Right(FixedText(one.busbw, 3), 10) +
            Right(one.gbps ? FixedText(*one.gbps * kWirePart / kBits, 1) : "-", 8) +
            Right(std::to_string(one.times), 7) + (slow[i] ? "  slow" : "") + "\n";
  }
  text += "#\n";
  const auto count = std::count(slow.begin(), slow.end(), true);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!slow[i]) continue;
    text += "# slow rail: " + std::to_string(i) + " " + results[i].name + ": " + FixedText(results[i].busbw, 3) +
            " GB/s, the best of " + std::to_string(results[i].times) + " measurements, under " +
            FixedText(tolerance * 100, 0) + " % of the others for its rate\n";
    text += "#   next: its cable and switch port, PFC, PCIe width of its card: nccl-tune explain\n";
  }
  if (2 * static_cast<std::size_t>(count) > results.size()) {
    text +=
        "# more than half are slow beside the best: rather noise than faults. Measure again on quiet nodes, with "
        "larger messages (-b 128M -e 128M)\n";
  }
  const bool none = std::ranges::all_of(results, [](const RailResult& one) { return one.busbw <= 0; });
  if (none) {
    text += "# no rail has carried anything: --per-rail needs at least two nodes\n";
  } else if (count == 0) {
    text += results.size() > 1 ? "# all rails are alike\n" : "# one rail: nothing to compare with\n";
  }
  return text + "#\n# Rails concluded: " + std::to_string(count) + " of " + std::to_string(results.size()) + " slow\n";
}

std::string HeaderOf(const std::string& output) {
  std::istringstream lines(output);
  std::string header;
  bool has_devices = false;
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    const bool is_device = line.starts_with("#  Rank ");
    if (has_devices && !is_device) break;
    has_devices = has_devices || is_device;
    header += line + "\n";
  }
  return header;
}

std::string BestText(double busbw, bool lost_file) {
  return kBest + FixedText(busbw, 9) + "\n" + (lost_file ? kLostFile : "");
}

std::optional<double> BestOf(const std::string& output) {
  const std::size_t at = output.rfind(kBest);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(output).substr(at + std::string_view(kBest).size());
  const auto number = base::ParseDecimal(base::Trim(rest.substr(0, rest.find('\n'))));
  return number.ok() ? std::optional(*number) : std::nullopt;
}

bool HasLostFile(const std::string& output) { return output.ends_with(kLostFile); }

}  // namespace nccl_tune::bench
