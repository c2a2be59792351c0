// SPDX-License-Identifier: Apache-2.0
//
// The backend for host memory, over MPI: one rank per process. MPI finds the other processes itself. What Open MPI
// reads from the environment is set by the program's main beforehand.
#ifndef NCCL_TUNE_BENCH_MPI_BACKEND_H_
#define NCCL_TUNE_BENCH_MPI_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/host_data.h"
#include "bench/mpi_reduce.h"

namespace nccl_tune::bench {

class MpiBackend : public Backend {
 public:
  explicit MpiBackend(const BackendSetup& setup) : setup_(setup) {}
  ~MpiBackend() override;

  base::Result<Place> Connect() override;
  Identity identity() const override;
  std::vector<Device> LocalDevices() const override;
  base::Result<std::vector<std::string>> Gather(const std::string& text) override;
  base::Result<std::uint64_t> Memory() override;
  base::Status Allocate(std::uint64_t send_bytes, std::uint64_t receive_bytes) override;
  base::Status Fill(const Call& call, std::uint64_t seed) override;
  base::Status Run(const Call& call) override;
  base::Status Finish() override { return base::Ok(); }  // Run waits
  base::Result<Mismatches> Check(const Call& call, std::uint64_t seed) override;
  base::Status Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) override;
  base::Status Barrier() override;
  base::Result<double> Sum(double value) override;
  base::Status Close() override;
  void Abort(int code) override;
  int FailureCode() const override { return 1; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  using Buffer = std::unique_ptr<void, Free>;
  static base::Result<Buffer> MakeBuffer(std::uint64_t bytes);
  DataKey KeyOf(const Call& call, std::uint64_t seed) const;

  BackendSetup setup_;
  int rank_ = 0;
  int size_ = 1;
  std::unique_ptr<MpiOps> ops_;
  Buffer send_;
  Buffer receive_;
  std::uint64_t receive_bytes_ = 0;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_MPI_BACKEND_H_
