// SPDX-License-Identifier: Apache-2.0
#include "site/read_rules.h"

#include <cmath>
#include <utility>

#include "core/policy/glob.h"

namespace nccl_tune::site {
namespace {

using base::Result;
using policy::DeviceMatcher;
using policy::InterfaceMatcher;
using policy::SiteCondition;
using policy::SitePolicy;

constexpr double kFastest = 100000;  // Gbit/s, far above any port

template <typename Matcher>
void ReadName(const Entry& entry, Matcher* out, Problems* problems) {
  const std::string* text = TakeText(entry, problems);
  if (text == nullptr) return;
  const auto checked = policy::CheckGlob(*text);
  if (!checked.ok()) return problems->Add(entry, checked.error());
  if (text->ends_with(":0"))
    return problems->Add(entry, WrongValue("no such port", *text, "NAME:PORT, whose ports begin with 1"));
  out->name = *text;
}

template <typename Matcher>
void ReadSubnet(const Entry& entry, Matcher* out, Problems* problems) {
  const std::string* text = TakeText(entry, problems);
  if (text == nullptr) return;
  const auto subnet = ParseSubnet(*text);
  if (!subnet.ok()) return problems->Add(entry, subnet.error());
  out->subnet = *subnet;
}

void ReadPci(const Entry& entry, DeviceMatcher* out, Problems* problems) {
  const std::string* text = TakeText(entry, problems);
  if (text == nullptr) return;
  const auto pattern = ParsePciPattern(*text);
  if (!pattern.ok()) return problems->Add(entry, pattern.error());
  out->pci = *pattern;
}

void ReadDriver(const Entry& entry, DeviceMatcher* out, Problems* problems) {
  const std::string* text = TakeText(entry, problems);
  if (text == nullptr) return;
  constexpr std::string_view kLegal = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (text->empty() || text->find_first_not_of(kLegal) != std::string::npos) {
    return problems->Add(entry, WrongValue("not the name of a driver", *text, "one exact name such as mlx5_core"));
  }
  // The names of RDMA drivers are not those of the function's.
  constexpr std::pair<std::string_view, std::string_view> kMeant[] = {
      {"mlx5", "mlx5_core"}, {"mlx5_ib", "mlx5_core"}, {"mlx4", "mlx4_core"}, {"mlx4_ib", "mlx4_core"},
      {"bnxt", "bnxt_en"},   {"bnxt_re", "bnxt_en"},   {"qedr", "qede"},      {"hns_roce", "hns3"},
  };
  for (const auto& [written, meant] : kMeant) {
    if (*text == written)
      problems->Note(entry, "no driver of a PCI function; Did you mean " + std::string(meant) + "?");
  }
  out->driver = *text;
}

std::optional<facts::GbitPerSecond> TakeRate(const Entry& entry, Problems* problems) {
  const auto number = TakeNumber(entry, problems);
  if (!number) return std::nullopt;
  if (std::isfinite(*number) && *number > 0 && *number <= kFastest) return facts::GbitPerSecond{*number};
  problems->Add(entry, WrongValue("number out of range", Show(*entry.value), "Gbit/s, above 0 and at most 100000"));
  return std::nullopt;
}

void ReadRate(const Entry& entry, DeviceMatcher* out, Problems* problems) { out->rate = TakeRate(entry, problems); }

void ReadMinRate(const Entry& entry, DeviceMatcher* out, Problems* problems) {
  out->min_rate = TakeRate(entry, problems);
}

constexpr Key<DeviceMatcher> kDeviceKeys[] = {
    {"name", &ReadName<DeviceMatcher>},
    {"pci", &ReadPci},
    {"driver", &ReadDriver},
    {"rate", &ReadRate},
    {"min_rate", &ReadMinRate},
    {"subnet", &ReadSubnet<DeviceMatcher>},
};
constexpr Key<InterfaceMatcher> kInterfaceKeys[] = {
    {"name", &ReadName<InterfaceMatcher>},
    {"subnet", &ReadSubnet<InterfaceMatcher>},
};

void CheckMatcher(const Entry& entry, const DeviceMatcher& matcher, Problems* problems) {
  if (matcher.rate && matcher.min_rate) {
    problems->Add(entry, WrongValue("rate and min_rate together", "both", "one of them"));
  }
}
void CheckMatcher(const Entry&, const InterfaceMatcher&, Problems*) {}

// A list whose entries are names, or tables of what must hold.
template <typename Matcher>
std::vector<Matcher> ReadMatchers(const Entry& list, std::span<const Key<Matcher>> keys, Problems* problems) {
  std::vector<Matcher> out;
  for (const Entry& entry : TakeList(list, problems)) {
    Matcher matcher;
    matcher.origin = entry.origin();
    if (entry.value->kind == Value::Kind::kText) {
      ReadName(entry, &matcher, problems);
    } else if (entry.value->kind != Value::Kind::kTable) {
      problems->Add(entry, WrongValue("wrong type", Show(*entry.value),
                                      "a name in quotes, or a table such as { name = \"..\" }"));
    } else if (entry.value->members.empty()) {
      problems->Add(entry, WrongValue("an entry that says nothing", "{}", "at least one key"));
    } else {
      ReadTable(entry, keys, &matcher, problems);
      CheckMatcher(entry, matcher, problems);
    }
    out.push_back(std::move(matcher));
  }
  return out;
}

constexpr Key<SitePolicy> kDevices[] = {
    {"include",
     [](const Entry& entry, SitePolicy* out, Problems* problems) {
       out->include_devices = ReadMatchers<DeviceMatcher>(entry, kDeviceKeys, problems);
     }},
    {"exclude",
     [](const Entry& entry, SitePolicy* out, Problems* problems) {
       out->exclude_devices = ReadMatchers<DeviceMatcher>(entry, kDeviceKeys, problems);
     }},
};
constexpr Key<SitePolicy> kInterfaces[] = {
    {"include",
     [](const Entry& entry, SitePolicy* out, Problems* problems) {
       out->include_interfaces = ReadMatchers<InterfaceMatcher>(entry, kInterfaceKeys, problems);
     }},
    {"exclude",
     [](const Entry& entry, SitePolicy* out, Problems* problems) {
       out->exclude_interfaces = ReadMatchers<InterfaceMatcher>(entry, kInterfaceKeys, problems);
     }},
};

// Names of partitions and features: what Slurm takes for one.
std::vector<std::string> ReadPlainNames(const Entry& entry, const char* what, Problems* problems) {
  std::vector<std::string> out;
  const std::vector<Entry> texts = TakeTexts(entry, problems);
  if (entry.value->kind == Value::Kind::kList && entry.value->items.empty()) {
    problems->Add(entry, WrongValue("empty list", "[]", std::string("at least one ") + what));
  }
  for (const Entry& text : texts) {
    const std::string& name = text.value->text;
    if (name.empty() || name.find_first_of(", \t\r\n*?[]&|") != std::string::npos) {
      problems->Add(text, WrongValue(std::string("not the name of a ") + what, name,
                                     "one exact name; several are a list: [\"a\", \"b\"]"));
    } else {
      out.push_back(name);
    }
  }
  return out;
}

// "node[01-16]" for "node01-16"; empty: the text is not like that.
std::string MeantRange(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  const auto dash = text.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == text.size() || text.find_first_of("[,") != std::string_view::npos)
    return "";
  const auto begin = text.substr(0, dash).find_last_not_of(kDigits) + 1;
  const bool digits = begin < dash && text.find_first_not_of(kDigits, dash + 1) == std::string_view::npos;
  if (!digits || begin == 0) return "";
  return std::string(text.substr(0, begin)) + "[" + std::string(text.substr(begin)) + "]";
}

template <std::size_t n, typename Out>
void AppendKeys(const std::string& prefix, const Key<Out> (&keys)[n], std::vector<std::string>* out) {
  for (const auto& key : keys) out->push_back(prefix + std::string(key.name));
}

}  // namespace

Result<facts::IpPrefix> ParseSubnet(std::string_view text) {
  auto prefix = facts::ParseIpPrefix(text);
  if (!prefix.ok()) return WrongValue(prefix.error().what, std::string(text), prefix.error().expected);
  if (prefix->Network() != *prefix) {
    return WrongValue("an address of a host, not a network", std::string(text), prefix->Network().ToString());
  }
  return prefix;
}

Result<policy::PciPattern> ParsePciPattern(std::string_view text) {
  // The rest of the smallest address that the text may begin.
  constexpr std::string_view kRest[] = {"", ".0", ":00.0", ":00:00.0"};
  for (std::size_t absent = 0; absent < std::size(kRest); ++absent) {
    const auto address = facts::ParsePciAddress(std::string(text) + std::string(kRest[absent]));
    if (!address.ok()) continue;
    policy::PciPattern out;
    out.domain = address->domain;
    if (absent < 3) out.bus = address->bus;
    if (absent < 2) out.device = address->device;
    if (absent < 1) out.function = address->function;
    return out;
  }
  return WrongValue("not a PCI address or the beginning of one", std::string(text),
                    "a form such as 0000:1a:00.1, 0000:1a:00 or 0000:1a");
}

void ReadDevices(const Entry& entry, SitePolicy* out, Problems* problems) {
  ReadTable<SitePolicy>(entry, kDevices, out, problems);
}

void ReadInterfaces(const Entry& entry, SitePolicy* out, Problems* problems) {
  ReadTable<SitePolicy>(entry, kInterfaces, out, problems);
}

void ReadBootstrap(const Entry& entry, SitePolicy* out, Problems* problems) {
  const std::string* text = TakeText(entry, problems);
  if (text == nullptr) return;
  if (text->find('/') != std::string::npos) {
    const auto subnet = ParseSubnet(*text);
    if (!subnet.ok()) return problems->Add(entry, subnet.error());
    out->bootstrap = {.value = *subnet, .origin = entry.origin()};
    return;
  }
  const auto checked = policy::CheckGlob(*text);
  if (const auto address = facts::ParseIpAddress(*text); address.ok()) {
    return problems->Add(entry, WrongValue("an address, not an interface", *text,
                                           "the interface's name, or the network of its address: " +
                                               (address->IsV4() ? "10.0.0.0/24" : std::string("fd00::/64"))));
  }
  constexpr std::size_t kLongestInterface = 15;  // IFNAMSIZ without the final zero
  if (!checked.ok() || text->size() > kLongestInterface || text->find_first_of("*?:") != std::string::npos) {
    return problems->Add(entry, WrongValue("not the name of an interface", *text,
                                           "one exact name of at most 15 characters, or a network such as 10.0.0.0/8"));
  }
  out->bootstrap = {.value = *text, .origin = entry.origin()};
}

void ReadPartition(const Entry& entry, SiteCondition* out, Problems* problems) {
  out->partitions = ReadPlainNames(entry, "partition", problems);
}

void ReadFeature(const Entry& entry, SiteCondition* out, Problems* problems) {
  out->features = ReadPlainNames(entry, "feature", problems);
}

void ReadNodes(const Entry& entry, SiteCondition* out, Problems* problems) {
  const std::string* text = TakeText(entry, problems);
  if (text == nullptr) return;
  auto nodes = policy::ParseHostList(*text);
  if (!nodes.ok()) return problems->Add(entry, nodes.error());
  const std::string range = MeantRange(*text);
  if (!range.empty()) problems->Note(entry, "one node of this name. A range has brackets: " + range);
  out->nodes = *std::move(nodes);
}

std::vector<std::string> DeviceKeys() {
  std::vector<std::string> out;
  AppendKeys("", kDevices, &out);
  AppendKeys("include[].", kDeviceKeys, &out);
  return out;
}

std::vector<std::string> InterfaceKeys() {
  std::vector<std::string> out;
  AppendKeys("", kInterfaces, &out);
  AppendKeys("include[].", kInterfaceKeys, &out);
  return out;
}

}  // namespace nccl_tune::site
