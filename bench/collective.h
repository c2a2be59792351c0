// SPDX-License-Identifier: Apache-2.0
//
// What distinguishes one collective operation from another for the frame: one value of this type per file such as
// all_reduce.cc, and one line in the list of collective.cc. Pure.
#ifndef NCCL_TUNE_BENCH_COLLECTIVE_H_
#define NCCL_TUNE_BENCH_COLLECTIVE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/traffic.h"
#include "bench/types.h"

namespace nccl_tune::bench {

enum class CollectiveKind {
  kAllReduce,
  kAllGather,
  kBroadcast,
  kReduceScatter,
  kReduce,
  kAlltoall,
  kAlltoallv,
  kScatter,
  kGather,
  kSendrecv,
  kHypercube
};

// Sizes of one call, in elements. In place, what rank r sends lies in its receive buffer from r * send_stride on, and
// its result from r * receive_stride on.
struct Shape {
  std::uint64_t count = 0;          // nccl-tests' "count" column, the count of NCCL's call
  std::uint64_t send_count = 0;     // of the rank that sends most
  std::uint64_t receive_count = 0;  // of the rank that receives most
  std::uint64_t send_stride = 0;
  std::uint64_t receive_stride = 0;
};

// What a size means: `elements` is the asked-for size divided by that of the type.
struct Question {
  std::uint64_t elements = 0;
  std::uint64_t type_bytes = 1;
  std::uint64_t ranks = 1;
  const Traffic* traffic = nullptr;  // never null for alltoallv
};

// Bytes, whose ratio to the time is the algorithm bandwidth, and the factor from there to the bus bandwidth.
struct Bandwidth {
  double bytes = 0;
  double bus_factor = 0;
};

// One stretch of a result, relative to its beginning: elements [begin, begin + count).
struct Stretch {
  enum class Kind {
    kZero,     // what was cleared before the call and that nobody writes
    kReduced,  // the reduction over all ranks of elements [offset, offset + count) of what each sends
    kCopied,  // elements from `offset` on of what `rank` sends; after `each` elements the same of rank + rank_step, ...
  };
  Kind kind = Kind::kZero;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;
  std::uint64_t rank = 0;
  std::uint64_t rank_step = 0;
  std::uint64_t each = 1;  // >= 1

  friend bool operator==(const Stretch&, const Stretch&) = default;
};

// One rank's view of one call.
struct Seat {
  std::uint64_t rank = 0;
  std::uint64_t ranks = 1;
  std::uint64_t root = 0;
  std::uint64_t type_bytes = 1;
  bool in_place = false;
  const Traffic* traffic = nullptr;
};

struct Collective {
  CollectiveKind kind;
  std::string_view name;       // "all_reduce"; nccl-tests' program is NAME_perf
  bool reduces;                // its data is reduced: ops apply to the result
  bool lists_ops;              // one table part per operation of -o (sendrecv too, as in nccl-tests)
  bool has_root;               // one table part per root of -r
  bool checks_in_place;        // whether its in-place result is defined
  std::string_view op_column;  // where it lists no ops: "none", or nothing for hypercube
  Shape (*shape)(const Question&);
  Bandwidth (*bandwidth)(const Shape&, const Question&);
  // Elements that the rank sends in one call, from element 0 of what it sends; 0: it sends nothing.
  std::uint64_t (*sends)(const Shape&, const Seat&);
  // What its result must be, without gaps from element 0 on, receive_count elements at most.
  std::vector<Stretch> (*expects)(const Shape&, const Seat&);
};

// Null when there is none of that name ("all_reduce").
const Collective* FindCollective(std::string_view name);

// "all_reduce, all_gather, ...".
std::string CollectiveNames();

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_COLLECTIVE_H_
