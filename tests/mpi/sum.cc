// SPDX-License-Identifier: Apache-2.0
//
// Adds up the ranks over MPI; rank 0 prints "RANKS ranks, sum SUM".
#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d ranks, sum %d\n", ranks, sum);
  MPI_Finalize();
  return 0;
}
