// SPDX-License-Identifier: Apache-2.0
//
// One process's connection to the PMIx server of its step (what each call does is said in exchange.h). The only place
// of the project that includes pmix.h.
//
// Threads: a Session is used by one thread, but Abort by any. PMIx itself runs one more thread between Init and
// Finalize; its callbacks only record a result and wake us. Ownership: at most one Session per process; the destructor
// finalises it. Environment variables that PMIx reads (StoreSetting in pmix/step.h) are set by the caller beforehand.
// Errors: a fault of PMIx is an Error that carries PMIx's own text; nothing here prints or ends the process, except
// Abort, which ends the whole step.
#ifndef NCCL_TUNE_PMIX_SESSION_H_
#define NCCL_TUNE_PMIX_SESSION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "pmix/exchange.h"

namespace nccl_tune::pmix {

class Session final : public Exchange {
 public:
  // Connects. kNotFound when there is no PMIx server, kForbidden when the PMIX_* variables are another step's,
  // kInternal on a fault of PMIx.
  static base::Result<std::unique_ptr<Session>> Init(const base::Environment& environment);
  ~Session() override;

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  base::Status Put(const std::string& key, std::string_view bytes) override;
  base::Status Fence(std::chrono::milliseconds deadline, std::string_view purpose) override;
  base::Result<std::string> Get(std::uint32_t rank, const std::string& key) override;
  void Abort(int code) override;
  base::Status Finalize() override;

 private:
  Session(std::string name_space, std::uint32_t rank) : name_space_(std::move(name_space)), rank_(rank) {}
  base::Status ReadSize();

  std::string name_space_;
  std::uint32_t rank_;
  std::uint32_t size_ = 0;
  std::atomic<bool> open_ = true;
};

}  // namespace nccl_tune::pmix

#endif  // NCCL_TUNE_PMIX_SESSION_H_
