// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include "core/policy/rules.h"

namespace nccl_tune::policy {
namespace {

Decision PlainInterface(const Situation& s, const char* reader) {
  if (!s.interface) return LeaveUnset("no interface was chosen for NCCL_SOCKET_IFNAME");
  Decision out = LeaveUnset(std::string("the interface of NCCL_SOCKET_IFNAME; ") + reader + " takes exact names only");
  out.value = s.interface;
  out.evidence = s.bootstrap.evidence;
  return out;
}

// The list as libraries beside NCCL read it: exact names without the sign in front.
std::string PlainPorts(const Situation& s) { return s.hca_list->substr(1); }

// Why NVSHMEM's variables stay unset; empty: they are set where there is something to set.
std::string WhyNoNvshmem(const Situation& s) {
  const auto& gpus = s.node->gpus;
  const bool nvidia =
      std::any_of(gpus.begin(), gpus.end(), [](const auto& g) { return g.vendor == facts::GpuVendor::kNvidia; });
  if (!nvidia) return "NVSHMEM needs an NVIDIA GPU, and none is seen here";
  if (!s.hca_list) return "NCCL_IB_HCA is not set";
  return "";
}

// NVSHMEM's name for what NCCL was told.
Decision SameAs(const Situation& s, const Decision& ours, const std::string& name) {
  if (const std::string why = WhyNoNvshmem(s); !why.empty()) return LeaveUnset(why);
  if (!ours.value) return LeaveUnset(name + " is not set");
  Decision out = LeaveUnset("NVSHMEM chooses a GID as NCCL does and must end at the same one");
  out.value = ours.value;
  out.evidence = {{name, *ours.value}};
  return out;
}

}  // namespace

Decision SocketIfname(const Situation& s) {
  Decision out = LeaveUnset(s.bootstrap.reason);
  out.evidence = s.bootstrap.evidence;
  out.rejected = s.bootstrap.rejected;
  if (s.bootstrap.netdev == nullptr) return out;
  if (!s.interface) {
    out.reason = "the interface's name cannot stand in a list; leaving the choice to NCCL";
    return out;
  }
  out.value = "=" + *s.interface;
  if (s.bootstrap.inferred) out.reason += " (inferred on this node)";
  return out;
}

Decision GlooIfname(const Situation& s) { return PlainInterface(s, "Gloo"); }
Decision TensorPipeIfname(const Situation& s) { return PlainInterface(s, "TensorPipe"); }

Decision NvshmemHcas(const Situation& s) {
  if (const std::string why = WhyNoNvshmem(s); !why.empty()) return LeaveUnset(why);
  Decision out = LeaveUnset("the ports of NCCL_IB_HCA; NVSHMEM would read its = as part of a name");
  out.value = PlainPorts(s);
  out.evidence = {{"NCCL_IB_HCA", *s.hca_list}};
  return out;
}

Decision NvshmemGidIndex(const Situation& s) { return SameAs(s, IbGidIndex(s), "NCCL_IB_GID_INDEX"); }
Decision NvshmemAddressFamily(const Situation& s) { return SameAs(s, IbAddressFamily(s), "NCCL_IB_ADDR_FAMILY"); }
Decision NvshmemAddressRange(const Situation& s) { return SameAs(s, IbAddressRange(s), "NCCL_IB_ADDR_RANGE"); }

Decision UcxDevices(const Situation& s) {
  if (!s.preferences.mpi) return LeaveUnset("MPI's variables are set with --nccl-tune=mpi only");
  if (!s.hca_list || !s.interface)
    return LeaveUnset("UCX's own choice is kept: no port and interface to name together");
  Decision out = LeaveUnset("the ports of NCCL_IB_HCA, and the bootstrap interface so that UCX keeps TCP");
  out.value = PlainPorts(s) + "," + *s.interface;
  out.evidence = {{"NCCL_IB_HCA", *s.hca_list}};
  return out;
}

Decision OpenMpiInclude(const Situation& s) {
  if (!s.preferences.mpi) return LeaveUnset("MPI's variables are set with --nccl-tune=mpi only");
  return PlainInterface(s, "Open MPI");
}

}  // namespace nccl_tune::policy
