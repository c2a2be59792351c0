// SPDX-License-Identifier: Apache-2.0
//
// Which IP interfaces NCCL takes: the first one for bootstrap and for the IB transport's own exchange, all of them for
// the socket transport. A model of NCCL 2.18 to 2.32; it says what will happen, not what would be right.
#ifndef NCCL_TUNE_CORE_NCCL_INTERFACE_ORDER_H_
#define NCCL_TUNE_CORE_NCCL_INTERFACE_ORDER_H_

#include <string>
#include <vector>

#include "core/facts/ip_address.h"
#include "core/facts/node.h"
#include "core/nccl/environment.h"
#include "core/nccl/nccl_version.h"

namespace nccl_tune::nccl {

enum class InterfaceStep {
  kNamed,       // NCCL_SOCKET_IFNAME: find or fail
  kIb,          // names that begin with ib
  kCommId,      // the subnet of NCCL_COMM_ID
  kOrdinary,    // all but docker, lo and, from 2.28 on, virbr
  kDocker,      // names that begin with docker
  kLo,          // names that begin with lo
  kVirbr,       // names that begin with virbr, from 2.28 on
  kNone,        // nothing found: init fails
  kUnresolved,  // NCCL_COMM_ID names a host, so the answer needs a look-up of that name
};

struct TakenInterface {
  std::string name{};
  facts::IpAddress address{};
};

struct InterfaceOrder {
  std::vector<TakenInterface> interfaces{};  // empty with kNone and kUnresolved
  InterfaceStep step = InterfaceStep::kNone;
  std::string reason{};  // one clause, for explain
};

// All that NET/Socket takes, in its order, at most 16. NET/IB's own exchange takes the first.
InterfaceOrder OrderInterfaces(const facts::Node& node, NcclVersion version, const Environment& environment);

// What bootstrap takes: the first of the above, or none. With NCCL_COMM_ID set, the interface in that address's subnet
// whatever NCCL_SOCKET_IFNAME says.
InterfaceOrder ChooseBootstrap(const facts::Node& node, NcclVersion version, const Environment& environment);

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_INTERFACE_ORDER_H_
