// SPDX-License-Identifier: Apache-2.0
#include "launcher/apply_placement.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

// The kernel's own bounds: CONFIG_NR_CPUS is at most 8192 (x86), nodes at most 1 << 10.
constexpr int kFirstCpus = 1024;
constexpr int kMostCpus = 1 << 16;
constexpr unsigned long kNodes = 1024;
constexpr unsigned long kBits = sizeof(unsigned long) * 8;
using NodeMask = std::array<unsigned long, kNodes / kBits>;

struct FreeCpus {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeCpus>;

Error Refused(const std::string& what, const std::string& seen, int reason) {
  const bool forbidden = reason == EPERM || reason == EACCES;
  return Error{.code = forbidden ? Code::kForbidden : Code::kUnsupported,
               .what = what + ": " + std::strerror(reason),
               .where = "binding",
               .seen = seen};
}

// A cpu_set_t shorter than the kernel's own is refused with EINVAL.
Result<std::vector<int>> ReadCpus() {
  for (int count = kFirstCpus; count <= kMostCpus; count *= 2) {
    const CpuSet set(CPU_ALLOC(static_cast<std::size_t>(count)));
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
    if (set == nullptr) break;
    CPU_ZERO_S(size, set.get());
    if (sched_getaffinity(0, size, set.get()) != 0) {
      if (errno == EINVAL) continue;
      return Refused("the kernel does not tell the affinity", "", errno);
    }
    std::vector<int> cpus;
    for (int i = 0; i < count; ++i) {
      if (CPU_ISSET_S(static_cast<std::size_t>(i), size, set.get())) cpus.push_back(i);
    }
    return cpus;
  }
  return Error{.code = Code::kUnsupported, .what = "more CPUs than expected", .where = "binding"};
}

std::vector<int> ReadMemoryNodes() {
  NodeMask mask{};
  std::vector<int> nodes;
  // The kernel takes one bit less than it is told.
  if (syscall(SYS_get_mempolicy, nullptr, mask.data(), kNodes + 1, nullptr, MPOL_F_MEMS_ALLOWED) != 0) return nodes;
  for (unsigned long i = 0; i < kNodes; ++i) {
    if ((mask[i / kBits] >> (i % kBits)) & 1U) nodes.push_back(static_cast<int>(i));
  }
  return nodes;
}

bool Holds(const std::vector<int>& sorted, int one) { return std::binary_search(sorted.begin(), sorted.end(), one); }

Status CheckGranted(const Placement& placement, const Granted& granted) {
  std::vector<int> outside;
  for (const int cpu : placement.cpus) {
    if (!Holds(granted.cpus, cpu)) outside.push_back(cpu);
  }
  if (!outside.empty()) {
    return Error{.code = Code::kForbidden,
                 .what = "CPUs outside this process's affinity",
                 .where = "binding",
                 .seen = FormatNumbers(outside),
                 .expected = "some of " + FormatNumbers(granted.cpus)};
  }
  if (placement.numa && !granted.memory_nodes.empty() && !Holds(granted.memory_nodes, *placement.numa)) {
    return Error{.code = Code::kForbidden,
                 .what = "memory of a NUMA node that this process may not use",
                 .where = "binding",
                 .seen = std::to_string(*placement.numa),
                 .expected = "one of " + FormatNumbers(granted.memory_nodes)};
  }
  return base::Ok();
}

Status BindCpus(const std::vector<int>& cpus) {
  const auto count = static_cast<std::size_t>(*std::max_element(cpus.begin(), cpus.end())) + 1;
  const CpuSet set(CPU_ALLOC(count));
  if (set == nullptr) return Refused("no memory for a CPU set", FormatNumbers(cpus), ENOMEM);
  const std::size_t size = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(size, set.get());
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size, set.get());
  if (sched_setaffinity(0, size, set.get()) == 0) return base::Ok();
  return Refused("the kernel refuses these CPUs, so they stay as they were", FormatNumbers(cpus), errno);
}

Status PreferMemory(int node, bool cpus_are_bound) {
  NodeMask mask{};
  const auto at = static_cast<unsigned long>(node);
  const std::string bound = cpus_are_bound ? "; the CPUs are bound" : "";
  if (node < 0 || at >= kNodes) return Refused("no such NUMA node" + bound, std::to_string(node), EINVAL);
  mask[at / kBits] = 1UL << (at % kBits);
  if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask.data(), kNodes + 1) == 0) return base::Ok();
  return Refused("the kernel refuses to prefer this NUMA node's memory" + bound, std::to_string(node), errno);
}

}  // namespace

Result<Granted> ReadGranted() {
  NCCL_TUNE_ASSIGN_OR_RETURN(cpus, ReadCpus());
  return Granted{.cpus = std::move(cpus), .memory_nodes = ReadMemoryNodes()};
}

Status ApplyPlacement(const Placement& placement) {
  if (placement.cpus.empty() && !placement.numa) return base::Ok();
  NCCL_TUNE_ASSIGN_OR_RETURN(granted, ReadGranted());
  NCCL_TUNE_RETURN_IF_ERROR(CheckGranted(placement, granted));
  if (!placement.cpus.empty()) NCCL_TUNE_RETURN_IF_ERROR(BindCpus(placement.cpus));
  if (placement.numa) return PreferMemory(*placement.numa, !placement.cpus.empty());
  return base::Ok();
}

}  // namespace nccl_tune::launcher
