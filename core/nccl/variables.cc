// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/variables.h"

#include <algorithm>
#include <limits>

namespace nccl_tune::nccl {
namespace {

constexpr NcclVersion kAlways{};
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

constexpr Variable Integer(std::string_view name, std::int64_t low, std::int64_t high, NcclVersion since,
                           std::string_view section, std::string_view purpose, std::string_view hint = {}) {
  return {.name = name,
          .kind = VariableKind::kInteger,
          .low = low,
          .high = high,
          .since = since,
          .purpose = purpose,
          .hint = hint,
          .section = section};
}

constexpr Variable Enum(std::string_view name, std::string_view legal, NcclVersion since, std::string_view section,
                        std::string_view purpose, std::string_view hint = {}) {
  return {.name = name,
          .kind = VariableKind::kEnum,
          .legal = legal,
          .since = since,
          .purpose = purpose,
          .hint = hint,
          .section = section};
}

constexpr Variable List(std::string_view name, ListSyntax syntax, NcclVersion since, std::string_view section,
                        std::string_view purpose, std::string_view hint = {}) {
  return {.name = name,
          .kind = VariableKind::kList,
          .syntax = syntax,
          .since = since,
          .purpose = purpose,
          .hint = hint,
          .section = section};
}

constexpr Variable Cidr(std::string_view name, NcclVersion since, std::string_view section, std::string_view purpose,
                        std::string_view hint = {}) {
  return {
      .name = name, .kind = VariableKind::kCidr, .since = since, .purpose = purpose, .hint = hint, .section = section};
}

constexpr Variable Text(std::string_view name, NcclVersion since, std::string_view section, std::string_view purpose,
                        std::string_view hint = {}) {
  return {
      .name = name, .kind = VariableKind::kText, .since = since, .purpose = purpose, .hint = hint, .section = section};
}

constexpr Variable kVariables[] = {
    List("GLOO_SOCKET_IFNAME", ListSyntax::kExactNames, kAlways, "3.3", "interfaces of Gloo"),
    Text("MELLANOX_VISIBLE_DEVICES", kAlways, "3.3", "devices that a container gets"),
    Text("NCCL_ALGO", kAlways, "6.2", "algorithms to choose from"),
    Text("NCCL_COMM_ID", kAlways, "3.2", "address of rank 0, <address>:<port>"),
    Text("NCCL_CONF_FILE", {2, 23, 0}, "6.4", "configuration file read instead of ~/.nccl.conf"),
    Integer("NCCL_CROSS_NIC", 0, 2, kAlways, "6.1", "lets a ring change its NIC between nodes"),
    Integer("NCCL_DMABUF_ENABLE", 0, 1, kAlways, "5.1", "registers GPU memory through DMA-BUF"),
    Text("NCCL_ENV_PLUGIN", {2, 28, 7}, "6.3", "env plugin to load, or none"),
    Integer("NCCL_GIN_IB_TC", -1, 255, {2, 30, 7}, "4.2", "traffic class of GPU-initiated traffic"),
    Text("NCCL_GRAPH_FILE", kAlways, "6.2", "fixed graph to replay"),
    Text("NCCL_HOSTID", kAlways, "6.5", "identity of the node", "An empty id makes all nodes one."),
    Integer("NCCL_IBEXT_DISABLE", 0, 1, kAlways, "6.3", "turns the IBext plugin off"),
    Integer("NCCL_IB_ADAPTIVE_ROUTING", -2, 1, kAlways, "1.6", "adaptive routing on a service level"),
    Enum("NCCL_IB_ADDR_FAMILY", "AF_INET|AF_INET6", {2, 21, 0}, "2.2", "address family of the GID",
         "Other text is ignored."),
    Cidr("NCCL_IB_ADDR_RANGE", {2, 21, 0}, "2.2", "network that the GID must lie in",
         "Anything else is ignored, at most with an INFO line."),
    Integer("NCCL_IB_AR_THRESHOLD", 0, kLargest, kAlways, "1.6", "message size from which adaptive routing is used"),
    Integer("NCCL_IB_DATA_DIRECT", 0, 2, {2, 27, 0}, "1.5", "use of the data-direct function of a NIC"),
    Integer("NCCL_IB_DEVICE_PCI_ORDER", 0, 1, {2, 29, 7}, "1.3", "numbers devices by PCI address"),
    Integer("NCCL_IB_DISABLE", 0, 1, kAlways, "1.2", "turns the IB transport off"),
    Integer("NCCL_IB_ECE_ENABLE", 0, 1, kAlways, "6.1", "vendor options of a connection"),
    Integer("NCCL_IB_FIFO_TC", -1, 255, {2, 22, 0}, "4.2", "traffic class of clear-to-send messages",
            "It should be the class of NCCL_IB_TC."),
    Integer("NCCL_IB_GID_INDEX", -1, 255, kAlways, "2.1", "GID index of every RoCE port",
            "An index is used unchecked on every device; -1 lets NCCL choose from 2.21 on."),
    List("NCCL_IB_HCA", ListSyntax::kHcas, kAlways, "1.1", "ports that the IB transport may use",
         "Empty means every device."),
    Integer("NCCL_IB_MERGE_NICS", 0, 1, {2, 20, 0}, "1.4", "fuses the ports of one card"),
    Integer("NCCL_IB_MERGE_VFS", 0, 1, kAlways, "1.4", "treats functions of one bus as one NIC"),
    Integer("NCCL_IB_OOO_RQ", 0, 1, {2, 30, 3}, "1.6", "out-of-order receive"),
    Integer("NCCL_IB_PCI_RELAXED_ORDERING", 0, 2, kAlways, "5.4", "relaxed ordering on PCIe"),
    Integer("NCCL_IB_PKEY", 0, 65535, kAlways, "1.7", "index in the P_Key table",
            "It is an index, not the key itself."),
    Integer("NCCL_IB_PKEY_VALUE", 0, 65535, {2, 31, 0}, "1.7", "P_Key by value"),
    Integer("NCCL_IB_QPS_PER_CONNECTION", 1, 128, kAlways, "6.1", "queue pairs of a connection"),
    Integer("NCCL_IB_RESILIENCY_PORT_FAILOVER", 0, 1, {2, 29, 7}, "1.4", "goes on over the other port of a fused NIC"),
    Integer("NCCL_IB_RETRY_CNT", 0, 7, kAlways, "6.1", "retries of the transport",
            "It is a field of 3 bits, so 7 is the most; raise NCCL_IB_TIMEOUT instead."),
    Integer("NCCL_IB_RETURN_ASYNC_EVENTS", 0, 1, kAlways, "6.1", "ends the communicator on port events"),
    Integer("NCCL_IB_ROCE_VERSION_NUM", 1, 2, {2, 21, 0}, "2.2", "RoCE version of the GID"),
    Integer("NCCL_IB_ROUTABLE_FLID_GID_INDEX", 0, 255, {2, 22, 0}, "2.6",
            "index of the GID with an FLID, on InfiniBand"),
    Integer("NCCL_IB_SL", -1, 15, kAlways, "4.2", "service level"),
    Integer("NCCL_IB_SPLIT_DATA_ON_QPS", 0, 1, kAlways, "6.1", "splits a message over the queue pairs"),
    Integer("NCCL_IB_SUBNET_AWARE_ROUTING", 0, 1, {2, 30, 7}, "1.3", "pairs ports by RoCE subnet"),
    Integer("NCCL_IB_SUBNET_PREFIX_LEN", 0, 32, {2, 30, 7}, "1.3", "IPv4 prefix length of that pairing"),
    Integer("NCCL_IB_TC", -1, 255, kAlways, "4.2", "traffic class, RoCE only",
            "It is DSCP x 4, so DSCP 26 is 104 or 106."),
    Integer("NCCL_IB_TIMEOUT", 14, 31, kAlways, "6.1", "timeout of the transport",
            "It is 4.096 us x 2^n: 14 is 67 ms, 20 is 4.3 s, 22 is 17 s; 0 and 32 up never end."),
    Integer("NCCL_IGNORE_CPU_AFFINITY", 0, 1, kAlways, "6.1", "uses the GPU's cores whatever the job's mask"),
    Integer("NCCL_IGNORE_NET_MISMATCH", 0, 1, {2, 30, 3}, "6.1", "only reports differing NIC counts"),
    Text("NCCL_LIBIBVERBS_SO", {2, 30, 3}, "1.2", "path of libibverbs"),
    Integer("NCCL_MAX_CTAS", 1, 64, kAlways, "6.2", "most CTAs of a collective"),
    Integer("NCCL_MIN_CTAS", 1, 64, kAlways, "6.2", "fewest CTAs of a collective"),
    Integer("NCCL_MNNVL_ENABLE", 0, 2, {2, 21, 0}, "6.2", "NVLink between nodes"),
    Integer("NCCL_MULTI_RANK_GPU_ENABLE", 0, 1, {2, 30, 3}, "6.5", "lets ranks share a GPU"),
    Text("NCCL_NET", kAlways, "6.3", "transport to use, by name",
         "Another name than that of a transport found makes NCCL fail."),
    Text("NCCL_NETDEVS_POLICY", {2, 28, 0}, "1.3", "how many NICs a GPU uses: AUTO, MAX:N or ALL"),
    List("NCCL_NET_FORCE_MERGE", ListSyntax::kGroups, {2, 24, 0}, "1.4", "groups of NICs to fuse",
         "Every member must exist, or init fails."),
    Integer("NCCL_NET_GDR_C2C", 0, 1, kAlways, "5.2", "GPUDirect RDMA over C2C"),
    Enum("NCCL_NET_GDR_LEVEL", "LOC|NVL|NVB|C2C|PIX|PXB|P2C|PXN|PHB|SYS|0|1|2|3|4", kAlways, "5.2",
         "how far a NIC may be for GPUDirect RDMA", "Names are upper case; the NODE of nvidia-smi is PHB here."),
    Integer("NCCL_NET_GDR_READ", 0, 1, kAlways, "5.2", "sends straight from GPU memory"),
    Enum("NCCL_NET_MERGE_LEVEL", "LOC|PORT|PIX|PXB|P2C|PXN|PHB|SYS", {2, 24, 0}, "1.4",
         "how far apart fused NICs may be", "LOC turns fusion off."),
    Enum("NCCL_NET_MERGE_POLICY", "ALL|RAIL", {2, 30, 5}, "1.4", "which NICs may be fused"),
    Text("NCCL_NET_PLUGIN", kAlways, "6.3", "net plugin to load, or none"),
    Text("NCCL_NO_CACHE", {2, 29, 7}, "6.4", "variables that are read anew"),
    Integer("NCCL_NSOCKS_PERTHREAD", 1, 64, kAlways, "3.2", "sockets of a thread of the socket transport"),
    Integer("NCCL_NVLS_ENABLE", 0, 2, kAlways, "6.2", "NVLink SHARP"),
    Integer("NCCL_OOB_NET_ENABLE", 0, 1, {2, 23, 0}, "3.2", "bootstrap over the net plugin"),
    List("NCCL_OOB_NET_IFNAME", ListSyntax::kHcas, {2, 23, 0}, "3.2", "device of that bootstrap"),
    Integer("NCCL_P2P_DISABLE", 0, 1, kAlways, "5.4", "turns peer access off"),
    Enum("NCCL_P2P_LEVEL", "LOC|NVL|NVB|C2C|PIX|PXB|P2C|PXN|PHB|SYS|0|1|2|3|4", kAlways, "5.4",
         "how far GPUs may be for peer access", "Names are upper case; the NODE of nvidia-smi is PHB here."),
    Integer("NCCL_P2P_PXN_LEVEL", 0, 2, kAlways, "5.4", "use of NICs of other GPUs for send and receive"),
    Text("NCCL_PROTO", kAlways, "6.2", "protocols to choose from"),
    Integer("NCCL_PXN_C2C", 0, 1, kAlways, "5.4", "use of NICs of other GPUs over C2C"),
    Integer("NCCL_PXN_DISABLE", 0, 1, kAlways, "5.4", "turns the use of NICs of other GPUs off"),
    Integer("NCCL_SHM_DISABLE", 0, 1, kAlways, "6.2", "turns shared memory off"),
    Enum("NCCL_SOCKET_FAMILY", "AF_INET|AF_INET6", kAlways, "3.1", "address family for bootstrap and sockets",
         "Other text is ignored."),
    List("NCCL_SOCKET_IFNAME", ListSyntax::kInterfaces, kAlways, "3.1", "interface for bootstrap and sockets"),
    Text("NCCL_SOCKET_MAGIC", {2, 30, 7}, "3.2", "number that guards the sockets of a job",
         "It must be equal on all ranks."),
    Integer("NCCL_SOCKET_NTHREADS", 1, 16, kAlways, "3.2", "threads of the socket transport"),
    Integer("NCCL_SOCKET_RETRY_CNT", 0, kLargest, {2, 24, 0}, "3.2", "connection retries"),
    Integer("NCCL_SOCKET_RETRY_SLEEP_MSEC", 0, kLargest, {2, 24, 0}, "3.2", "pause between retries, in milliseconds"),
    Text("NCCL_TOPO_DUMP_FILE", kAlways, "5.3", "file that the topology is written to"),
    Text("NCCL_TOPO_FILE", kAlways, "5.3", "topology that replaces detection"),
    Text("NCCL_TUNER_CONFIG_FILE", kAlways, "6.3", "table of the example tuner"),
    List("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", ListSyntax::kInterfaces, kAlways, "3.3",
         "interface of the bootstrap of NVSHMEM"),
    Integer("NVSHMEM_ENABLE_NIC_PE_MAPPING", 0, 1, kAlways, "3.3", "turns NVSHMEM_HCA_PE_MAPPING on"),
    List("NVSHMEM_HCA_LIST", ListSyntax::kHatNames, kAlways, "3.3", "ports that NVSHMEM may use"),
    List("NVSHMEM_HCA_PE_MAPPING", ListSyntax::kExactNames, kAlways, "3.3",
         "port and count for each process of NVSHMEM"),
    Text("NVSHMEM_HCA_PREFIX", kAlways, "3.3", "part of the name of the devices that NVSHMEM may use"),
    Enum("NVSHMEM_IB_ADDR_FAMILY", "AF_INET|AF_INET6", kAlways, "2.7", "address family of the GID for NVSHMEM"),
    Cidr("NVSHMEM_IB_ADDR_RANGE", kAlways, "2.7", "network of the GID for NVSHMEM"),
    Integer("NVSHMEM_IB_GID_INDEX", -1, 255, kAlways, "2.7", "GID index for NVSHMEM"),
    Integer("NVSHMEM_IB_ROCE_VERSION_NUM", 1, 2, kAlways, "2.7", "RoCE version of the GID for NVSHMEM"),
    List("OMPI_MCA_btl_tcp_if_exclude", ListSyntax::kExactNames, kAlways, "3.3",
         "interfaces or networks that Open MPI leaves out", "It must name loopback again."),
    List("OMPI_MCA_btl_tcp_if_include", ListSyntax::kExactNames, kAlways, "3.3", "interfaces or networks of Open MPI"),
    List("OMPI_MCA_oob_tcp_if_include", ListSyntax::kExactNames, kAlways, "3.3",
         "interfaces of the start-up of Open MPI 4"),
    List("TP_SOCKET_IFNAME", ListSyntax::kExactNames, kAlways, "3.3", "interface of TensorPipe"),
    List("UCX_NET_DEVICES", ListSyntax::kHatNames, kAlways, "3.3", "devices of UCX, verbs and TCP",
         "Keep a TCP device in it, or UCX cannot fall back."),
};

}  // namespace

std::span<const Variable> AllVariables() { return kVariables; }

const Variable* Lookup(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kVariables), std::end(kVariables), [&](const auto& v) { return v.name == name; });
  return found == std::end(kVariables) ? nullptr : found;
}

}  // namespace nccl_tune::nccl
