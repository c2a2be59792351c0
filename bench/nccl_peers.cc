// SPDX-License-Identifier: Apache-2.0
#include "bench/nccl_peers.h"

#include <chrono>
#include <utility>

#include "base/environment.h"

namespace nccl_tune::bench {
namespace {

using base::Result;
using base::Status;

constexpr std::chrono::milliseconds kDeadline{60'000};

}  // namespace

Status NcclPeers::Connect(const BackendSetup& setup) {
  if (!setup.has_peers) return base::Ok();
  // Processes of one task, one after the other (--per-rail), must not find each other's.
  round_ = base::Lookup(setup.environment, "NCCL_BENCH_RAIL").value_or("");
  NCCL_TUNE_ASSIGN_OR_RETURN(session, pmix::Session::Init(setup.environment));
  session_ = std::move(session);
  connected_ = session_.get();
  return base::Ok();
}

std::string NcclPeers::NextKey(const std::string& key) { return key + round_ + "." + std::to_string(++exchanges_); }

Result<std::string> NcclPeers::Ask(std::uint32_t process, const std::string& name) {
  auto text = session_->Get(process, name);
  if (text.ok() || text.error().code != base::Code::kNotFound) return text;
  base::Error error = text.error();
  error.hint =
      "That process takes no part over NCCL: its node may have no GPU; --backend nccl says what is missing there.";
  return error;
}

Result<std::string> NcclPeers::Share(const std::string& key, std::uint64_t from, const std::string& text) {
  if (!session_) return text;
  const std::string name = NextKey(key);
  if (process() == from) NCCL_TUNE_RETURN_IF_ERROR(session_->Put(name, text));
  NCCL_TUNE_RETURN_IF_ERROR(session_->Fence(kDeadline, "connect over NCCL"));
  if (process() == from) return text;
  return Ask(static_cast<std::uint32_t>(from), name);
}

Result<std::vector<std::string>> NcclPeers::Gather(const std::string& key, const std::string& text) {
  if (!session_) return std::vector<std::string>{text};
  const std::string name = NextKey(key);
  NCCL_TUNE_RETURN_IF_ERROR(session_->Put(name, text));
  NCCL_TUNE_RETURN_IF_ERROR(session_->Fence(kDeadline, "tell what they run on"));
  std::vector<std::string> texts;
  for (std::uint32_t peer = 0; process() == 0 && peer < session_->size(); ++peer) {
    NCCL_TUNE_ASSIGN_OR_RETURN(one, Ask(peer, name));
    texts.push_back(std::move(one));
  }
  return texts;
}

Status NcclPeers::Close() { return session_ ? session_->Finalize() : base::Ok(); }

void NcclPeers::Abort(int code) {
  if (pmix::Session* const session = connected_; session != nullptr) session->Abort(code);
}

}  // namespace nccl_tune::bench
