// SPDX-License-Identifier: Apache-2.0
//
// Which NICs of a node carry a run and how fast they are: from the plan in the environment, else from the node itself.
// It says what the library is expected to do, which its own log may contradict. Pure but for ReadWire.
#ifndef NCCL_TUNE_BENCH_WIRE_FACTS_H_
#define NCCL_TUNE_BENCH_WIRE_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/environment.h"
#include "bench/expectation.h"
#include "bench/options.h"
#include "core/facts/node.h"
#include "core/nccl/nccl_version.h"
#include "hw/ip_facts.h"
#include "hw/tree.h"

namespace nccl_tune::bench {

// A verbs port, or an interface where `port` is 0.
struct Link {
  std::string name{};
  int port = 0;

  std::string ToString() const { return port == 0 ? name : name + ":" + std::to_string(port); }
  bool operator==(const Link&) const = default;
};

struct Wire {
  WireFacts facts{};
  std::uint64_t gpus = 0;     // NVIDIA's in the node, used or not; 0: none, or not known
  std::vector<Link> links{};  // the rails, in their order; with missing rates too, for their counters
  // Host memory's TCP leaves the rails aside: a clause that says so. Else empty.
  std::string beside{};
};

// `version` is NCCL's; with `backend` mpi it does not count. Open MPI's transport follows from OMPI_MCA_pml, UCX_TLS,
// UCX_NET_DEVICES and OMPI_MCA_btl_tcp_if_include; where they say nothing, from whether there is an RDMA port.
Wire FindWire(const facts::Node& node, const base::Environment& environment, BackendKind backend,
              nccl::NcclVersion version = nccl::kAssumedVersion);

// The same of the node that `tree` and `ip` show; a node that cannot be read is a missing fact.
Wire ReadWire(const hw::Tree& tree, const hw::IpFacts& ip, const base::Environment& environment, BackendKind backend,
              nccl::NcclVersion version = nccl::kAssumedVersion);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_WIRE_FACTS_H_
