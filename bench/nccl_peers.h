// SPDX-License-Identifier: Apache-2.0
//
// The processes of an NCCL run, over PMIx: who there is, one text from process 0 to all, one text from all to process
// 0. A process that nobody connects is alone.
#ifndef NCCL_TUNE_BENCH_NCCL_PEERS_H_
#define NCCL_TUNE_BENCH_NCCL_PEERS_H_

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

  // Process 0's text, on each; the others' is not looked at.
  base::Result<std::string> Broadcast(const std::string& key, const std::string& text);
  // All texts, in order, on process 0; empty on the others.
  base::Result<std::vector<std::string>> Gather(const std::string& key, const std::string& text);

  base::Status Close();
  void Abort(int code);

 private:
  std::unique_ptr<pmix::Session> session_;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_PEERS_H_
