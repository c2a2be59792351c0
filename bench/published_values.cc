// SPDX-License-Identifier: Apache-2.0
//
// busbw that others have measured or ask for. Left out: values whose source does not say the system (GPUs and NICs of a
// node), those of machines that were set up wrongly, and those that only one unnamed user reports.
#include <span>

#include "bench/expectation.h"

namespace nccl_tune::bench {
namespace {

constexpr auto kSum = CollectiveKind::kAllReduce;
constexpr auto kJoin = CollectiveKind::kAllGather;
constexpr auto kScatterSum = CollectiveKind::kReduceScatter;
constexpr auto kAll = CollectiveKind::kAlltoall;
constexpr std::string_view kOther = "NVL PCIe PCIE";  // in the name of another board with the same chip

struct Gpus {
  std::string_view system;
  std::string_view gpu;
  std::string_view without;
  std::uint64_t each;  // of a node
};
constexpr Gpus kV100 = {"8 x V100", "V100 SXM2", "", 8};
constexpr Gpus kA100 = {"8 x A100", "A100 SXM4", "", 8};
constexpr Gpus kH100 = {"8 x H100", "H100", kOther, 8};
constexpr Gpus kH100Pair = {"2 x H100 NVL", "H100 NVL", "", 2};
constexpr Gpus kH200 = {"8 x H200", "H200", kOther, 8};
constexpr Gpus kB200 = {"8 x B200", "B200", "", 8};
constexpr Gpus kB300 = {"8 x B300", "B300", "", 8};
constexpr Gpus kGB200 = {"4 x GB200", "GB200", "", 4};
constexpr Gpus kGB300 = {"4 x GB300", "GB300", "", 4};

struct Wire {
  std::uint64_t rails;
  double gbps;
};
constexpr Wire kAny = {0, 0};

struct Nodes {
  std::uint64_t least;
  std::uint64_t most;
};

constexpr PublishedValue Row(const Gpus& gpus, Wire wire, Nodes nodes, CollectiveKind kind, double measured,
                             double floor, std::string_view source, std::string_view algorithm = "") {
  return {gpus.system, gpus.gpu,  gpus.without, gpus.each, wire.rails, wire.gbps, nodes.least,
          nodes.most,  algorithm, kind,         measured,  floor,      source};
}
constexpr PublishedValue Measured(const Gpus& gpus, Wire wire, Nodes nodes, CollectiveKind kind, double value,
                                  std::string_view source, std::string_view algorithm = "") {
  return Row(gpus, wire, nodes, kind, value, kFloorPart * value, source, algorithm);
}
constexpr PublishedValue Threshold(const Gpus& gpus, Wire wire, Nodes nodes, CollectiveKind kind, double value,
                                   std::string_view source) {
  return Row(gpus, wire, nodes, kind, 0, value, source);
}

constexpr PublishedValue kValues[] = {
    // One node: NVLink.
    Threshold(kV100, kAny, {1, 1}, kSum, 110, "Azure NHC, ND40rs v2"),
    Measured(kA100, kAny, {1, 1}, kSum, 234, "stas00/ml-engineering"),
    Threshold(kA100, kAny, {1, 1}, kSum, 228, "Azure NHC, ND A100 v4"),
    Measured(kH100, kAny, {1, 1}, kSum, 480, "NVIDIA/dgxc-benchmarking"),
    Threshold(kH100, kAny, {1, 1}, kSum, 460, "Azure NHC, ND H100 v5"),
    Measured(kH100, kAny, {1, 1}, kSum, 370, "NVIDIA/nccl-tests issue 212", "Ring"),
    Threshold(kH100Pair, kAny, {1, 1}, kSum, 208, "Azure NHC"),
    Measured(kH200, kAny, {1, 1}, kSum, 482.3, "stas00/ml-engineering"),
    Threshold(kH200, kAny, {1, 1}, kSum, 431, "Azure NHC, ND H200 v5"),
    Measured(kH200, kAny, {1, 1}, kSum, 367.6, "stas00/ml-engineering", "Ring"),
    Measured(kH200, kAny, {1, 1}, kJoin, 361.4, "stas00/ml-engineering"),
    Measured(kH200, kAny, {1, 1}, kScatterSum, 362.9, "stas00/ml-engineering"),
    Measured(kB200, kAny, {1, 1}, kSum, 839, "stas00/ml-engineering"),
    Measured(kB200, kAny, {1, 1}, kSum, 682, "stas00/ml-engineering", "Ring"),
    Measured(kGB200, kAny, {1, 1}, kSum, 605.9, "stas00/ml-engineering"),

    // Several nodes: RDMA, EFA, TCPXO.
    Measured(kV100, {4, 100}, {2, 2}, kSum, 48, "NVIDIA/nccl-tests issue 29"),
    Measured(kA100, {8, 200}, {2, 8}, kSum, 192, "NVIDIA/nccl issues 812 and 1576"),
    Measured(kA100, {16, 100}, {2, 2}, kSum, 184.9, "oci-hpc"),
    Measured(kA100, {8, 100}, {2, 2}, kSum, 75, "NVIDIA/nccl issue 495"),
    Measured(kA100, {4, 100}, {2, 2}, kSum, 78.3, "awsome-distributed-training, p4de"),
    Threshold(kH100, {8, 400}, {2, 2}, kSum, 440, "oci-hpc"),
    Measured(kH100, {8, 400}, {8, 8}, kSum, 386.6, "coreweave/nccl-tests, SHARP"),
    Measured(kH100, {8, 200}, {2, 2}, kSum, 337.1, "NVCRE, GCP A3 Mega"),
    Measured(kH100, {8, 200}, {2, 2}, kJoin, 189.3, "NVCRE, GCP A3 Mega"),
    Measured(kH100, {8, 200}, {2, 2}, kAll, 40.2, "NVCRE, GCP A3 Mega"),
    Measured(kH100, {32, 100}, {2, 2}, kSum, 479.3, "awsome-distributed-training, p5"),
    Measured(kH100, {32, 100}, {2, 2}, kJoin, 338.6, "NVCRE, AWS p5"),
    Measured(kH100, {32, 100}, {2, 2}, kAll, 79.1, "NVCRE, AWS p5"),
    Threshold(kH200, {8, 400}, {2, 2}, kSum, 440, "oci-hpc"),
    Threshold(kB200, {8, 400}, {2, 2}, kSum, 440, "oci-hpc"),
    Measured(kB200, {8, 400}, {4, 4}, kSum, 380.4, "stas00/ml-engineering"),
    Threshold(kB300, {8, 800}, {2, 2}, kSum, 700, "oci-hpc"),

    // NVLink between nodes (MNNVL), and the same machines without it.
    Measured(kGB200, kAny, {2, 2}, kSum, 838.1, "NVCRE, GCP"),
    Measured(kGB200, kAny, {2, 2}, kJoin, 680.2, "NVCRE, GCP"),
    Measured(kGB200, kAny, {2, 2}, kAll, 683.8, "NVCRE, GCP"),
    Measured(kGB200, kAny, {4, 4}, kSum, 191.4, "NVCRE, AWS without MNNVL"),
    Measured(kGB200, kAny, {4, 4}, kJoin, 191.3, "NVCRE, AWS without MNNVL"),
    Measured(kGB200, kAny, {4, 4}, kAll, 58.2, "NVCRE, AWS without MNNVL"),
    Measured(kGB200, kAny, {4, 4}, kSum, 882.5, "NVCRE, AWS with MNNVL"),
    Measured(kGB200, kAny, {4, 4}, kJoin, 609.3, "NVCRE, AWS with MNNVL"),
    Measured(kGB200, kAny, {4, 4}, kAll, 568.7, "NVCRE, AWS with MNNVL"),
    Measured(kGB200, kAny, {18, 18}, kSum, 834.6, "coreweave/nccl-tests, one rack"),
    Measured(kGB200, kAny, {36, 36}, kSum, 793, "coreweave/nccl-tests, two racks"),
    Measured(kGB200, kAny, {360, 360}, kSum, 381, "coreweave/nccl-tests, 20 racks"),
    Measured(kGB300, kAny, {8, 8}, kSum, 376.0, "NVCRE, AWS without MNNVL"),
    Measured(kGB300, kAny, {8, 8}, kJoin, 365.7, "NVCRE, AWS without MNNVL"),
    Measured(kGB300, kAny, {8, 8}, kAll, 85.6, "NVCRE, AWS without MNNVL"),
    Measured(kGB300, kAny, {8, 8}, kSum, 923.3, "NVCRE, AWS with MNNVL"),
    Measured(kGB300, kAny, {8, 8}, kJoin, 698.7, "NVCRE, AWS with MNNVL"),
    Measured(kGB300, kAny, {8, 8}, kAll, 678.6, "NVCRE, AWS with MNNVL"),
    Measured(kGB300, kAny, {16, 16}, kSum, 932.1, "NVCRE"),
};

}  // namespace

std::span<const PublishedValue> PublishedValues() { return kValues; }

}  // namespace nccl_tune::bench
