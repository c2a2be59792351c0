// SPDX-License-Identifier: Apache-2.0
//
// What the administrators of a site say (docs/site-policy.md), as plain values, and what of it holds for one step on
// one node. Knows no file format: site/parse_policy.h makes a SiteFile. Rates in Gbit/s. Threads: plain values.
#ifndef NCCL_TUNE_CORE_POLICY_SITE_POLICY_H_
#define NCCL_TUNE_CORE_POLICY_SITE_POLICY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/facts/ip_address.h"
#include "core/facts/node.h"
#include "core/facts/pci_address.h"
#include "core/policy/host_list.h"

namespace nccl_tune::policy {

// Where in the policy something is said, for reasons and messages.
struct Origin {
  std::string key;  // "devices.exclude[2]", counted from 1
  int line = 0;     // 0: not said in the policy but by `key` itself, such as an option

  std::string ToString() const;  // "site policy, line 12: devices.exclude[2]", "--nccl-tune"
};

template <typename T>
struct Stated {
  T value{};
  Origin origin;
};

enum class SiteMode { kOff, kAuto, kExplain, kDryRun };
enum class GidIndexRule { kPin, kAuto };

std::string_view ToText(SiteMode mode);
std::string_view ToText(GidIndexRule rule);

// A PCI address or its beginning: what is absent may be anything, and then so is all after it.
struct PciPattern {
  std::uint32_t domain = 0;
  std::optional<std::uint8_t> bus;
  std::optional<std::uint8_t> device;
  std::optional<std::uint8_t> function;

  bool Matches(const facts::PciAddress& address) const;
};

// All that is given must hold. At least one part is given.
struct DeviceMatcher {
  std::optional<std::string> name;  // glob; with ":" it is matched against NAME:PORT
  std::optional<PciPattern> pci;
  std::optional<std::string> driver;  // exact
  std::optional<facts::GbitPerSecond> rate;
  std::optional<facts::GbitPerSecond> min_rate;
  std::optional<facts::IpPrefix> subnet;  // holds an address of the port's own interface
  Origin origin;
};

struct InterfaceMatcher {
  std::optional<std::string> name;  // glob
  std::optional<facts::IpPrefix> subnet;
  Origin origin;
};

using Variables = std::map<std::string, Stated<std::string>, std::less<>>;

// The keys of one block. A key that is not given is absent, so that a later block can leave it as it is.
struct SitePolicy {
  std::optional<Stated<SiteMode>> mode;
  std::optional<Stated<GidIndexRule>> gid_index;
  // An exact interface, or the network that its address lies in.
  std::optional<Stated<std::variant<std::string, facts::IpPrefix>>> bootstrap;
  // An empty list of includes limits nothing; so does an empty list of what may be set.
  std::optional<std::vector<DeviceMatcher>> include_devices, exclude_devices;
  std::optional<std::vector<InterfaceMatcher>> include_interfaces, exclude_interfaces;
  std::optional<Stated<int>> tc, sl, fifo_tc;
  std::optional<std::vector<Stated<std::string>>> allow, deny;  // globs of variables
  Variables set;
  std::map<std::string, Variables, std::less<>> profiles;

  GidIndexRule GidIndex() const { return gid_index ? gid_index->value : GidIndexRule::kPin; }
  // The tool does nothing here, whatever a job asks for. Any other mode is only the default of jobs that say nothing.
  bool IsOff() const { return mode && mode->value == SiteMode::kOff; }
};

// When a block holds: one of each list that is given. At least one is given.
struct SiteCondition {
  std::vector<std::string> partitions;
  std::vector<std::string> features;
  std::optional<HostList> nodes;
};

struct SiteOverride {
  SiteCondition condition;
  SitePolicy keys;
  Origin origin;
};

// A whole policy. The default value is the policy of a site that says nothing.
struct SiteFile {
  SitePolicy keys;
  std::vector<SiteOverride> when;  // in the order of the file
};

// What is known of the step and the node. A condition on something unknown does not hold.
struct SiteContext {
  std::optional<std::string> node;
  std::optional<std::string> partition;
  std::optional<std::vector<std::string>> features;
};

bool Holds(const SiteCondition& condition, const SiteContext& context);

// `later` over `earlier`: a value or a list replaces, tables of variables are merged name by name.
SitePolicy Merge(SitePolicy earlier, const SitePolicy& later);

// The keys that hold in `context`. Variables that `allow` and `deny` do not let through are left out of `set` and of
// every profile.
SitePolicy Resolve(const SiteFile& file, const SiteContext& context);

// Whether a variable may be set at all, by whatever rule: some entry of `allow` matches it (or there is none), and none
// of `deny`.
bool MaySet(const SitePolicy& policy, std::string_view variable);

// The variables of profile=NAME. kInvalidInput when there is no such profile, with the names there are.
base::Result<Variables> FindProfile(const SitePolicy& policy, std::string_view name);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_SITE_POLICY_H_
