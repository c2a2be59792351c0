// SPDX-License-Identifier: Apache-2.0
//
// The parts of a policy that name devices, interfaces, networks and nodes.
#ifndef NCCL_TUNE_SITE_READ_RULES_H_
#define NCCL_TUNE_SITE_READ_RULES_H_

#include <string>
#include <vector>

#include "core/facts/ip_address.h"
#include "core/policy/site_policy.h"
#include "site/section.h"

namespace nccl_tune::site {

// Each reads its key into a block; on a fault it adds problems and leaves out what is wrong.
void ReadDevices(const Entry& entry, policy::SitePolicy* out, Problems* problems);
void ReadInterfaces(const Entry& entry, policy::SitePolicy* out, Problems* problems);
void ReadBootstrap(const Entry& entry, policy::SitePolicy* out, Problems* problems);

// The keys of a [[when]] block that say when it holds.
void ReadPartition(const Entry& entry, policy::SiteCondition* out, Problems* problems);
void ReadFeature(const Entry& entry, policy::SiteCondition* out, Problems* problems);
void ReadNodes(const Entry& entry, policy::SiteCondition* out, Problems* problems);

// A network: "10.0.0.0/8", "fd00::/8". Host bits must be zero.
base::Result<facts::IpPrefix> ParseSubnet(std::string_view text);
// "0000:1a:00.1" or a beginning of it that ends with a whole part: "0000:1a:00", "0000:1a", "0000".
base::Result<policy::PciPattern> ParsePciPattern(std::string_view text);

// The keys that these tables may hold, below the table's own key: for tests of what is documented.
std::vector<std::string> DeviceKeys();
std::vector<std::string> InterfaceKeys();

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_READ_RULES_H_
