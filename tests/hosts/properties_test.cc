// SPDX-License-Identifier: Apache-2.0
//
// What must hold of the plan of every captured machine, whatever machine it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/env/plan.h"
#include "core/facts/node.h"
#include "core/facts/pci_address.h"
#include "core/nccl/check_value.h"
#include "core/policy/decide.h"
#include "tests/hosts/replay.h"

namespace nccl_tune::hosts {
namespace {

constexpr const char* kFolder = "tests/hosts";

struct Machine {
  std::string name;
  facts::Node node;
};

const std::vector<Machine>& Machines() {
  static const auto* machines = [] {
    auto* out = new std::vector<Machine>;
    const auto names = ListCaptures(kFolder);
    for (const auto& name : names.value()) {
      out->push_back({name, ReplayCapture(kFolder, name).value().node});
    }
    return out;
  }();
  return *machines;
}

env::Environment Values(const facts::Node& node) { return env::ValuesOf(env::MakePlan("", policy::Assess(node), {})); }

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(separator, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

const facts::IbPort* FindPort(const facts::Node& node, const std::string& hca, const std::string& port) {
  for (const auto& h : node.hcas) {
    for (const auto& p : h.ports) {
      if (h.name == hca && std::to_string(p.number) == port) return &p;
    }
  }
  return nullptr;
}

// The same machine under other names and other places: new[old].
struct Renaming {
  std::map<std::string, std::string> names;

  std::string operator()(const std::string& old) const { return names.contains(old) ? names.at(old) : old; }
};

Renaming DrawNames(const facts::Node& node, std::mt19937* random) {
  std::vector<std::string> old;
  for (const auto& hca : node.hcas) old.push_back(hca.name);
  for (const auto& netdev : node.netdevs) old.push_back(netdev.name);
  Renaming out;
  for (const auto& name : old) {
    std::string fresh;
    do {
      fresh = "x" + std::to_string((*random)() % 100000);
    } while (std::any_of(out.names.begin(), out.names.end(), [&](const auto& n) { return n.second == fresh; }));
    out.names.try_emplace(name, fresh);
  }
  return out;
}

// Other domains and buses in another order. Two addresses that share a bus, a device or a function still do: what lies
// behind one switch or one cage stays together.
class Moving {
 public:
  explicit Moving(std::mt19937* random) {
    for (std::uint32_t i = 0; i < 256; ++i) buses_.push_back(i);
    std::shuffle(buses_.begin(), buses_.end(), *random);
    offset_ = static_cast<std::uint32_t>((*random)() % 5);
  }

  facts::PciAddress operator()(facts::PciAddress pci) const {
    pci.domain = (pci.domain + offset_) * 7 % 65521;
    pci.bus = static_cast<decltype(pci.bus)>(buses_[pci.bus % 256]);
    return pci;
  }

 private:
  std::vector<std::uint32_t> buses_;
  std::uint32_t offset_ = 0;
};

facts::Node Rename(facts::Node node, const Renaming& renaming, std::mt19937* random) {
  const Moving move(random);
  for (auto& hca : node.hcas) {
    hca.name = renaming(hca.name);
    if (hca.pci) hca.pci = move(*hca.pci);
    for (auto& port : hca.ports) {
      if (port.netdev) port.netdev = renaming(*port.netdev);
      for (auto& gid : port.gids) {
        if (gid.netdev) gid.netdev = renaming(*gid.netdev);
      }
    }
  }
  for (auto& netdev : node.netdevs) {
    netdev.name = renaming(netdev.name);
    if (netdev.pci) netdev.pci = move(*netdev.pci);
    if (netdev.master) netdev.master = renaming(*netdev.master);
  }
  for (auto& gpu : node.gpus) gpu.pci = move(gpu.pci);
  for (auto& route : node.routes) route.interface = renaming(route.interface);
  std::shuffle(node.hcas.begin(), node.hcas.end(), *random);
  std::shuffle(node.netdevs.begin(), node.netdevs.end(), *random);
  return node;
}

// A value with every name in it renamed; what is no name (a number, a range) stays. Entries in order of their names: a
// list's order means nothing to its readers.
std::string RenameValue(const std::string& value, const Renaming& renaming) {
  const bool exact = value.starts_with("=");
  std::vector<std::string> entries;
  for (const auto& entry : Split(value.substr(exact ? 1 : 0), ',')) {
    const auto colon = entry.find(':');
    const std::string name = entry.substr(0, colon);
    entries.push_back(renaming(name) + (colon == std::string::npos ? "" : entry.substr(colon)));
  }
  std::sort(entries.begin(), entries.end());
  std::string out;
  for (const auto& entry : entries) out += (out.empty() ? "" : ",") + entry;
  return (exact ? "=" : "") + out;
}

env::Environment RenameValues(const env::Environment& values, const Renaming& renaming) {
  env::Environment out;
  for (const auto& [name, value] : values) out.emplace(name, RenameValue(value, renaming));
  return out;
}

TEST(PropertiesTest, OnlyVariablesOfTheRulesAndOnlyLegalValues) {
  std::set<std::string> known;
  for (const auto& rule : policy::Rules()) known.emplace(rule.variable);
  for (const auto& machine : Machines()) {
    for (const auto& [name, value] : Values(machine.node)) {
      EXPECT_TRUE(known.contains(name)) << machine.name << ": " << name;
      const auto check = nccl::CheckValue(name, value);
      EXPECT_TRUE(check.ok()) << machine.name << ": " << name << "=" << value << ": "
                              << (check.ok() ? "" : check.error().ToString());
      for (const char* never : {"NCCL_ALGO", "NCCL_PROTO", "NCCL_P2P_LEVEL", "NCCL_NET_GDR_LEVEL", "NCCL_NET"}) {
        EXPECT_NE(name, never) << machine.name;
      }
    }
  }
}

TEST(PropertiesTest, EveryNameExistsAndIsUp) {
  for (const auto& machine : Machines()) {
    const auto values = Values(machine.node);
    if (const auto list = values.find("NCCL_IB_HCA"); list != values.end()) {
      ASSERT_TRUE(list->second.starts_with("=") && !list->second.starts_with("==")) << machine.name;
      for (const auto& entry : Split(list->second.substr(1), ',')) {
        const auto parts = Split(entry, ':');
        ASSERT_EQ(parts.size(), 2u) << machine.name << ": " << entry;
        const auto* port = FindPort(machine.node, parts[0], parts[1]);
        ASSERT_NE(port, nullptr) << machine.name << ": " << entry;
        EXPECT_EQ(port->state, facts::PortState::kActive) << machine.name << ": " << entry;
      }
    }
    if (const auto name = values.find("NCCL_SOCKET_IFNAME"); name != values.end()) {
      ASSERT_TRUE(name->second.starts_with("=")) << machine.name;
      const auto* netdev = machine.node.FindNetdev(name->second.substr(1));
      ASSERT_NE(netdev, nullptr) << machine.name << ": " << name->second;
      EXPECT_TRUE(netdev->running) << machine.name;
      EXPECT_TRUE(std::any_of(netdev->addresses.begin(), netdev->addresses.end(), [](const auto& a) {
        return a.prefix.address.IsRoutable();
      })) << machine.name;
    }
  }
}

TEST(PropertiesTest, NamesAndPlacesDoNotDecide) {
  for (const auto& machine : Machines()) {
    const auto values = Values(machine.node);
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      std::mt19937 random(seed);
      const Renaming renaming = DrawNames(machine.node, &random);
      const auto got = Values(Rename(machine.node, renaming, &random));
      EXPECT_EQ(RenameValues(got, {}), RenameValues(values, renaming)) << machine.name << ", seed " << seed;
    }
  }
}

TEST(PropertiesTest, WithoutTheDecidingFactsNothingIsSetAndTheReasonSaysWhy) {
  for (const auto& machine : Machines()) {
    facts::Node node = machine.node;
    for (auto& hca : node.hcas) {
      for (auto& port : hca.ports) port.state = std::nullopt;
    }
    for (auto& netdev : node.netdevs) netdev.addresses.clear();
    for (const auto& setting : env::MakePlan("", policy::Assess(node), {}).settings) {
      EXPECT_EQ(setting.action, env::Action::kUnset) << machine.name << ": " << setting.decision.variable;
      EXPECT_FALSE(setting.decision.reason.empty()) << machine.name << ": " << setting.decision.variable;
    }
  }
}

TEST(PropertiesTest, EveryValueHasAReason) {
  for (const auto& machine : Machines()) {
    for (const auto& setting : env::MakePlan("", policy::Assess(machine.node), {}).settings) {
      EXPECT_FALSE(setting.decision.reason.empty()) << machine.name << ": " << setting.decision.variable;
      EXPECT_EQ(setting.decision.reason.find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace nccl_tune::hosts
