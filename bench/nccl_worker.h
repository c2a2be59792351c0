// SPDX-License-Identifier: Apache-2.0
//
// One thread of a process and its GPUs.
//
// Threads: see backend.h. Ownership: the backend owns everything that is pointed to.
#ifndef NCCL_TUNE_BENCH_NCCL_WORKER_H_
#define NCCL_TUNE_BENCH_NCCL_WORKER_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/host_data.h"
#include "bench/nccl_gpu.h"
#include "bench/nccl_shared.h"

namespace nccl_tune::bench {

class NcclWorker : public Worker {
 public:
  NcclWorker(NcclShared& shared, std::span<Gpu> gpus) : shared_(shared), gpus_(gpus) {}

  base::Status Fill(const Call& call, std::uint64_t seed) override;
  base::Status Start(const Call& call, std::uint64_t iteration) override;
  base::Status Finish() override { return shared_.Wait(gpus_); }
  base::Result<Mismatches> Check(const Call& call, std::uint64_t seed) override;
  base::Status Corrupt(const Call& call, std::uint64_t rank, std::uint64_t offset) override;
  base::Status BeginGroup() override;
  base::Status EndGroup() override;
  base::Status ReserveMarks(std::size_t count) override;
  base::Status Mark(std::size_t index) override;
  base::Result<std::vector<double>> Between(const std::vector<std::pair<std::size_t, std::size_t>>& marks) override;
  base::Status BeginCapture() override;
  base::Status EndCapture() override;
  base::Status Replay() override;
  base::Status DropCapture() override;
  void BeginRange(const std::string& name) override;
  void EndRange() override;
  base::Status Barrier() override;
  base::Result<double> Reduce(double value, Combine how) override;
  base::Result<std::vector<std::vector<double>>> GatherGreatest(const std::vector<double>& values) override;

 private:
  // The beginnings of a rank's buffers for element type `bytes`: -u shifts both.
  char* Begin(char* buffer, std::uint64_t bytes) const { return buffer + shared_.options->unaligned * bytes; }
  char* SendOf(const Gpu& gpu, const Call& call) const;
  char* ResultOf(const Gpu& gpu, const Call& call) const;
  DataKey KeyOf(const Gpu& gpu, const Call& call, std::uint64_t seed) const;
  Seat SeatOf(const Gpu& gpu, const Call& call) const;
  base::Status StartOn(Gpu& gpu, const Call& call, std::uint64_t shift);

  NcclShared& shared_;
  std::span<Gpu> gpus_;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_WORKER_H_
