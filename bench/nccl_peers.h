// SPDX-License-Identifier: Apache-2.0
//
// The processes of an NCCL run, over PMIx: who there is, one text from process 0 to all, one text from all to process
// 0. A process that nobody connects is alone.
#ifndef NCCL_TUNE_BENCH_NCCL_PEERS_H_
#define NCCL_TUNE_BENCH_NCCL_PEERS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "pmix/session.h"

namespace nccl_tune::bench {

class NcclPeers {
 public:
  base::Status Connect(const BackendSetup& setup);
  std::uint64_t process() const { return session_ ? session_->rank() : 0; }
  std::uint64_t processes() const { return session_ ? session_->size() : 1; }

  // Process `from`'s text, on each process that names it; the others' is not looked at. All processes call it, also
  // with different `from`.
  base::Result<std::string> Share(const std::string& key, std::uint64_t from, const std::string& text);
  base::Result<std::string> Broadcast(const std::string& key, const std::string& text) { return Share(key, 0, text); }
  // All texts, in order, on process 0; empty on the others.
  base::Result<std::vector<std::string>> Gather(const std::string& key, const std::string& text);

  base::Status Close();
  void Abort(int code);

 private:
  // PMIx keeps the first value of a name that it has fetched: each exchange has a name of its own.
  std::string NextKey(const std::string& key);
  base::Result<std::string> Ask(std::uint32_t process, const std::string& name);

  std::unique_ptr<pmix::Session> session_;
  std::atomic<pmix::Session*> connected_ = nullptr;  // the same: Abort comes from any thread
  std::uint64_t exchanges_ = 0;
  std::string round_{};
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_PEERS_H_
