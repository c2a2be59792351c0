// SPDX-License-Identifier: Apache-2.0
//
// One process's connection to the PMIx server of its step: put, one fence that carries everything, get. The only place
// of the project that includes pmix.h.
//
// Threads: a Session is used by one thread. PMIx itself runs one more thread between Init and Finalize; its callbacks
// only record a result and wake us.
// Ownership: at most one Session per process; the destructor finalises it. Environment variables that PMIx reads
// (StoreSetting in pmix/step.h) are set by the caller beforehand.
// Errors: a fault of PMIx is an Error that carries PMIx's own text; nothing here prints or ends the process, except
// Abort, which ends the whole step.
#ifndef NCCL_TUNE_PMIX_SESSION_H_
#define NCCL_TUNE_PMIX_SESSION_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"

namespace nccl_tune::pmix {

class Session {
 public:
  // Connects. kNotFound when there is no PMIx server, kForbidden when the PMIX_* variables are another step's,
  // kInternal on a fault of PMIx.
  static base::Result<std::unique_ptr<Session>> Init(const base::Environment& environment);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return size_; }

  // Offers `bytes` under `key` to all ranks; they have it after the next Fence.
  base::Status Put(const std::string& key, std::string_view bytes);

  // Waits for all ranks of the name space and carries what they put. kTimeout after `deadline` (our own: PMIx's works
  // on one node only and Slurm's is 300 s); the message says who waited for `purpose`. After a timeout the only
  // sensible calls are Abort and the end of the process. Success does not prove that each rank has put its entry: Get
  // does.
  base::Status Fence(std::chrono::milliseconds deadline, std::string_view purpose);

  // What `rank` put before the last Fence. kNotFound, at once, when it put nothing under `key`.
  base::Result<std::string> Get(std::uint32_t rank, const std::string& key);

  // Ends all tasks of the step; srun exits with `code`. Say why on stderr first: Slurm does not show a message.
  void Abort(int code);

  // Disconnects; the session is of no use afterwards.
  base::Status Finalize();

 private:
  Session(std::string name_space, std::uint32_t rank) : name_space_(std::move(name_space)), rank_(rank) {}
  base::Status ReadSize();

  std::string name_space_;
  std::uint32_t rank_;
  std::uint32_t size_ = 0;
  bool open_ = true;
};

}  // namespace nccl_tune::pmix

#endif  // NCCL_TUNE_PMIX_SESSION_H_
