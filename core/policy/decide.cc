// SPDX-License-Identifier: Apache-2.0
#include "core/policy/decide.h"

#include <algorithm>
#include <array>

#include "core/policy/rules.h"

namespace nccl_tune::policy {
namespace {

constexpr nccl::NcclVersion kOldest{2, 18, 0};
constexpr nccl::NcclVersion kByAddress{2, 21, 0};
constexpr nccl::NcclVersion kFifoClass{2, 22, 0};
constexpr nccl::NcclVersion kOthers{};

constexpr std::array<Rule, 19> kRules = {{
    {"NCCL_IB_DISABLE", "1 only where NCCL would take a port that cannot work, or where there are none by design",
     "NCCL_IB_HCA", "", kOldest, "NCCL 2.28 net_ib: any ACTIVE port is taken", IbDisable},
    {"NCCL_IB_HCA",
     "exact list of the ports that are rails: active, openable, one link layer, one rate, not the front end", "", "",
     kOldest, "NCCL 2.28 parseStringList: one leading =, name:port", IbHca},
    {"NCCL_IB_GID_INDEX",
     "RoCE: the index of the port's own routable RoCE v2 GID where it is the same on every selected port; of a cable's"
     " 169.254 address or a RoCE v1 entry where there is no better one",
     "NCCL_IB_HCA", "NCCL_IB_ADDR_FAMILY,NCCL_IB_ADDR_RANGE,NCCL_IB_ROCE_VERSION_NUM", kOldest,
     "kernel gid_attrs; NCCL 2.28 uses the index as it is", IbGidIndex},
    {"NCCL_IB_ADDR_FAMILY", "AF_INET6 where the right GIDs are IPv6 and no one index is right on every port",
     "NCCL_IB_HCA", "NCCL_IB_GID_INDEX", kByAddress, "NCCL 2.21 to 2.32 ncclIbGetGidIndex: AF_INET by default",
     IbAddressFamily},
    {"NCCL_IB_ADDR_RANGE",
     "the prefix that holds the right address of every port, where NCCL would take others and no one index is right",
     "NCCL_IB_HCA,NCCL_IB_ADDR_FAMILY", "NCCL_IB_GID_INDEX", kByAddress,
     "NCCL 2.21 to 2.32 ncclIbGetGidIndex: one CIDR for all ports", IbAddressRange},
    {"NCCL_IB_QPS_PER_CONNECTION", "4 where every selected port is a bond: one queue pair stays on one member",
     "NCCL_IB_HCA", "", kOldest, "NVIDIA/nccl issues 1015 and 2150", IbQueuePairs},
    {"NCCL_IB_TC",
     "RoCE: DSCP x 4 + 2 where PFC is on for one and the same priority of every selected port, the ports go by the DSCP"
     " and exactly one DSCP leads to that priority; never where the host sets a traffic class of its own",
     "NCCL_IB_HCA", "", kOldest,
     "kernel RTM_GETDCB; OFED qos/trust and tc/N/traffic_class; NCCL 2.28 net_ib: the GRH's traffic class",
     IbTrafficClass},
    {"NCCL_IB_FIFO_TC", "the value that the rule of NCCL_IB_TC found", "NCCL_IB_HCA,NCCL_IB_TC", "", kFifoClass,
     "NCCL 2.22 and 2.23: 0 by default, whatever NCCL_IB_TC is; 2.24 to 2.32: as NCCL_IB_TC", IbFifoTrafficClass},
    {"NCCL_NET",
     "mode item strict: IB, so that NCCL fails rather than going on over sockets; never where another net plugin is "
     "named"
     " or found",
     "NCCL_IB_HCA,NCCL_IB_DISABLE", "NCCL_NET_PLUGIN", kOldest,
     "NCCL 2.28 net: a name that no transport has fails init", Net},
    {"NCCL_CROSS_NIC",
     "0 where every GPU has a rail, each rail is a network of its own and no route leads from one to another",
     "NCCL_IB_HCA", "", kOldest, "NVIDIA/nccl issues 1755, 2013 and 2345", CrossNic},
    {"NCCL_SOCKET_IFNAME", "one exact interface on which all nodes meet", "", "", kOldest,
     "NCCL 2.28 socket: find or fail, first match", SocketIfname},
    {"GLOO_SOCKET_IFNAME", "the interface of NCCL_SOCKET_IFNAME as a plain name", "NCCL_SOCKET_IFNAME", "", kOthers,
     "PyTorch ProcessGroupGloo: exact names only", GlooIfname},
    {"TP_SOCKET_IFNAME", "the interface of NCCL_SOCKET_IFNAME as a plain name", "NCCL_SOCKET_IFNAME", "", kOthers,
     "PyTorch TensorPipe agent: one exact name", TensorPipeIfname},
    {"NVSHMEM_HCA_LIST", "the ports of NCCL_IB_HCA without the =, which NVSHMEM would read as part of a name",
     "NCCL_IB_HCA", "NVSHMEM_HCA_PE_MAPPING,NVSHMEM_HCA_PREFIX", kOthers,
     "PyTorch copies NCCL_IB_HCA as it is when this one is unset", NvshmemHcas},
    {"NVSHMEM_IB_GID_INDEX", "the value of NCCL_IB_GID_INDEX", "NCCL_IB_HCA,NCCL_IB_GID_INDEX,NVSHMEM_HCA_LIST",
     "NVSHMEM_IB_ADDR_FAMILY,NVSHMEM_IB_ADDR_RANGE", kOthers, "NVSHMEM uses NCCL's algorithm", NvshmemGidIndex},
    {"NVSHMEM_IB_ADDR_FAMILY", "the value of NCCL_IB_ADDR_FAMILY", "NCCL_IB_HCA,NCCL_IB_ADDR_FAMILY,NVSHMEM_HCA_LIST",
     "NVSHMEM_IB_GID_INDEX", kOthers, "NVSHMEM uses NCCL's algorithm", NvshmemAddressFamily},
    {"NVSHMEM_IB_ADDR_RANGE", "the value of NCCL_IB_ADDR_RANGE", "NCCL_IB_HCA,NCCL_IB_ADDR_RANGE,NVSHMEM_HCA_LIST",
     "NVSHMEM_IB_GID_INDEX", kOthers, "NVSHMEM uses NCCL's algorithm", NvshmemAddressRange},
    {"UCX_NET_DEVICES", "mode item mpi: the ports of NCCL_IB_HCA and the bootstrap interface, so that UCX keeps TCP",
     "NCCL_IB_HCA,NCCL_SOCKET_IFNAME", "", kOthers, "UCX: exact names, a list without a TCP device has no fall-back",
     UcxDevices},
    {"OMPI_MCA_btl_tcp_if_include", "mode item mpi: the bootstrap interface", "NCCL_SOCKET_IFNAME",
     "OMPI_MCA_btl_tcp_if_exclude,OMPI_MCA_oob_tcp_if_include,OMPI_MCA_oob_tcp_if_exclude,PRTE_MCA_prte_if_include,"
     "PRTE_MCA_prte_if_exclude",
     kOthers, "Open MPI 4.1: include and exclude together end the job", OpenMpiInclude},
}};

constexpr std::array<LeftAlone, 5> kLeftAlone = {{
    {"NCCL_IB_ROCE_VERSION_NUM", "NCCL's default is 2, and only RoCE v2 entries are ever chosen here"},
    {"NCCL_NET_PLUGIN", "a network's own plugin may own the transport; only the site's policy names one"},
    {"NCCL_IB_SL", "a service level, or the priority of a VLAN, is the fabric's, not the node's: site policy only"},
    {"NCCL_ALGO, NCCL_PROTO, NCCL_GRAPH_FILE, NCCL_TOPO_FILE",
     "newer versions fail on combinations that older ones ran; no general rule holds"},
    {"NCCL_P2P_LEVEL, NCCL_P2P_DISABLE, NCCL_NET_GDR_LEVEL, NCCL_NET_GDR_READ",
     "NCCL measures the distances itself; a forced level hangs where the hardware cannot"},
}};

}  // namespace

std::span<const Rule> Rules() { return kRules; }
std::span<const LeftAlone> VariablesLeftAlone() { return kLeftAlone; }

std::vector<std::string> SplitNames(std::string_view names) {
  std::vector<std::string> out;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(','), names.size());
    out.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return out;
}

bool Follows(const Rule& rule, std::string_view variable) {
  const auto names = SplitNames(rule.follows);
  return std::find(names.begin(), names.end(), variable) != names.end();
}

std::vector<Decision> Decide(const Situation& situation) {
  std::vector<Decision> out;
  for (const auto& rule : Rules()) {
    out.push_back(rule.decide(situation));
    out.back().variable = rule.variable;
  }
  return out;
}

}  // namespace nccl_tune::policy
