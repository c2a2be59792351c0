// SPDX-License-Identifier: Apache-2.0
#include "bench/nccl_peers.h"

#include <chrono>
#include <utility>

namespace nccl_tune::bench {
namespace {

using base::Result;
using base::Status;

constexpr std::chrono::milliseconds kDeadline{60'000};

}  // namespace

Status NcclPeers::Connect(const BackendSetup& setup) {
  if (!setup.has_peers) return base::Ok();
  NCCL_TUNE_ASSIGN_OR_RETURN(session, pmix::Session::Init(setup.environment));
  session_ = std::move(session);
  return base::Ok();
}

Result<std::string> NcclPeers::Broadcast(const std::string& key, const std::string& text) {
  if (!session_) return text;
  if (process() == 0) NCCL_TUNE_RETURN_IF_ERROR(session_->Put(key, text));
  NCCL_TUNE_RETURN_IF_ERROR(session_->Fence(kDeadline, "connect over NCCL"));
  if (process() == 0) return text;
  return session_->Get(0, key);
}

Result<std::vector<std::string>> NcclPeers::Gather(const std::string& key, const std::string& text) {
  if (!session_) return std::vector<std::string>{text};
  NCCL_TUNE_RETURN_IF_ERROR(session_->Put(key, text));
  NCCL_TUNE_RETURN_IF_ERROR(session_->Fence(kDeadline, "tell what they run on"));
  std::vector<std::string> texts;
  for (std::uint32_t peer = 0; process() == 0 && peer < session_->size(); ++peer) {
    NCCL_TUNE_ASSIGN_OR_RETURN(one, session_->Get(peer, key));
    texts.push_back(std::move(one));
  }
  return texts;
}

Status NcclPeers::Close() { return session_ ? session_->Finalize() : base::Ok(); }

void NcclPeers::Abort(int code) {
  if (session_) session_->Abort(code);
}

}  // namespace nccl_tune::bench
