// SPDX-License-Identifier: Apache-2.0
//
// What the launcher and the benchmark ask of PMIx: put, one fence that carries everything, get. Session (session.h) is
// the real one; StandIn (stand_in.h) connects threads of one process, for tests and simulations.
//
// Threads: an Exchange is used by one thread. Errors: none of these prints or ends the process, except Abort.
#ifndef NCCL_TUNE_PMIX_EXCHANGE_H_
#define NCCL_TUNE_PMIX_EXCHANGE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::pmix {

class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;

  // Offers `bytes` under `key` to all ranks; they have it after the next Fence.
  virtual base::Status Put(const std::string& key, std::string_view bytes) = 0;

  // Waits for all ranks of the name space and carries what they put. kTimeout after `deadline` (our own: PMIx's works
  // on one node only and Slurm's is 300 s); the message says who waited for `purpose`. After a timeout the only
  // sensible calls are Abort and the end of the process. Success does not prove that each rank has put its entry: Get
  // does.
  virtual base::Status Fence(std::chrono::milliseconds deadline, std::string_view purpose) = 0;

  // What `rank` put before the last Fence. kNotFound, at once, when it put nothing under `key`.
  virtual base::Result<std::string> Get(std::uint32_t rank, const std::string& key) = 0;

  // Ends all tasks of the step; srun exits with `code`. Say why on stderr first: Slurm does not show a message.
  virtual void Abort(int code) = 0;

  // Disconnects; the exchange is of no use afterwards.
  virtual base::Status Finalize() = 0;

 protected:
  Exchange() = default;
};

}  // namespace nccl_tune::pmix

#endif  // NCCL_TUNE_PMIX_EXCHANGE_H_
