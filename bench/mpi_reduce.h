// SPDX-License-Identifier: Apache-2.0
//
// The reductions of the benchmark in MPI's terms. MPI has no floating-point types of 8 and 16 bits: they travel as
// unsigned integers under operations of our own, which compute in double and round after each step as a GPU does. Sums
// of 8-bit integers are our own too: those of Open MPI 4.1 and 5.0 saturate on CPUs with AVX (open-mpi/ompi issue
// 8045), NCCL's wrap around.
//
// Threads: as MPI's. Ownership: the operations of our own are freed by the destructor, before MPI_Finalize.
#ifndef NCCL_TUNE_BENCH_MPI_REDUCE_H_
#define NCCL_TUNE_BENCH_MPI_REDUCE_H_

#include <mpi.h>

#include <map>
#include <utility>

#include "bench/types.h"

namespace nccl_tune::bench {

MPI_Datatype MpiTypeOf(DataType type);

class MpiOps {
 public:
  MpiOps() = default;
  ~MpiOps();
  MpiOps(const MpiOps&) = delete;
  MpiOps& operator=(const MpiOps&) = delete;

  // An average is summed here and divided afterwards, a mulsum is scaled before. Null when MPI refuses to make it.
  MPI_Op Of(DataType type, ReduceOp op);

 private:
  std::map<std::pair<DataType, ReduceOp>, MPI_Op> own_;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_MPI_REDUCE_H_
