// SPDX-License-Identifier: Apache-2.0
//
// What distinguishes one collective operation from another for the frame: one value of this type per file such as
// all_reduce.cc, and one line in the list here. Pure.
#ifndef NCCL_TUNE_BENCH_COLLECTIVE_H_
#define NCCL_TUNE_BENCH_COLLECTIVE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace nccl_tune::bench {

enum class CollectiveKind { kAllReduce };

// Sizes of one call, as the table shows them and as the buffers need them.
struct Extent {
  std::uint64_t count = 0;       // elements, nccl-tests' "count" column
  std::uint64_t send_bytes = 0;  // of one rank
  std::uint64_t receive_bytes = 0;
};

struct Collective {
  CollectiveKind kind;
  std::string_view name;  // "all_reduce"; nccl-tests' program is NAME_perf
  Extent (*extent)(std::uint64_t requested_bytes, std::uint64_t type_bytes, std::uint64_t ranks);
  // busbw = algbw times this.
  double (*bus_factor)(std::uint64_t ranks);
};

// Null when there is none of that name.
const Collective* FindCollective(std::string_view name);

// "all_reduce", or a list.
std::string CollectiveNames();

// Whether nccl-tests has a collective of that name, be it built here or not.
bool IsKnownCollective(std::string_view name);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_COLLECTIVE_H_
