// SPDX-License-Identifier: Apache-2.0
#include "pmix/session.h"

#include <pmix.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "pmix/step.h"

namespace nccl_tune::pmix {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

Error PmixError(const std::string& call, pmix_status_t status, Code code = Code::kInternal) {
  const char* text = PMIx_Error_string(status);
  return Error{.code = code,
               .what = std::string(text != nullptr ? text : "unknown status") + " (" + std::to_string(status) + ")",
               .where = call};
}

pmix_proc_t ProcessOf(const std::string& name_space, pmix_rank_t rank) {
  pmix_proc_t process;
  std::memset(&process, 0, sizeof process);
  name_space.copy(process.nspace, PMIX_MAX_NSLEN);
  process.rank = rank;
  return process;
}

// One attribute that says "yes".
pmix_info_t Flag(const char* key) {
  pmix_info_t info;
  std::memset(&info, 0, sizeof info);
  std::string_view(key).copy(info.key, PMIX_MAX_KEYLEN);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
  return info;
}

void Free(pmix_value_t* value) {
  if (value != nullptr) PMIX_VALUE_FREE(value, 1);
}

// Shared with the callback: when we stop waiting the callback may still come.
struct FenceState {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<pmix_status_t> status;
};

// On PMIx's thread.
void OnFence(pmix_status_t status, void* data) noexcept {
  const std::unique_ptr<std::shared_ptr<FenceState>> state(static_cast<std::shared_ptr<FenceState>*>(data));
  const std::lock_guard<std::mutex> lock((*state)->mutex);
  (*state)->status = status;
  (*state)->changed.notify_one();
}

}  // namespace

Result<std::unique_ptr<Session>> Session::Init(const base::Environment& environment) {
  NCCL_TUNE_ASSIGN_OR_RETURN(step, ReadStep(environment));
  const PmixCheck check = CheckPmix(environment, step ? &*step : nullptr);
  if (check.state == PmixState::kAbsent) {
    return Error{.code = Code::kNotFound,
                 .what = "no PMIx server: PMIX_NAMESPACE is not set",
                 .hint = "Start it with srun --mpi=pmix."};
  }
  if (check.state == PmixState::kInherited) {
    return Error{.code = Code::kForbidden,
                 .what = "the PMIX_* variables are those of an outer step: " + check.why,
                 .hint = "Start the inner step with srun --mpi=pmix too."};
  }
  pmix_proc_t self;
  std::memset(&self, 0, sizeof self);
  const pmix_status_t status = PMIx_Init(&self, nullptr, 0);
  if (status == PMIX_ERR_UNREACH) {
    Error error = PmixError("PMIx_Init", status, Code::kNotFound);
    error.hint = "The PMIX_* variables lead to no server of this step: leave them as srun --mpi=pmix sets them.";
    return error;
  }
  if (status != PMIX_SUCCESS) return PmixError("PMIx_Init", status);
  std::unique_ptr<Session> session(new Session(self.nspace, self.rank));
  NCCL_TUNE_RETURN_IF_ERROR(session->ReadSize());
  return session;
}

Session::~Session() { static_cast<void>(Finalize()); }

Status Session::ReadSize() {
  // A reserved key: OPTIONAL keeps the request local, where it either is or never will be.
  const pmix_proc_t all = ProcessOf(name_space_, PMIX_RANK_WILDCARD);
  const pmix_info_t local = Flag(PMIX_OPTIONAL);
  pmix_value_t* value = nullptr;
  const pmix_status_t status = PMIx_Get(&all, PMIX_JOB_SIZE, &local, 1, &value);
  if (status != PMIX_SUCCESS) return PmixError("PMIx_Get of the job size", status);
  if (value->type == PMIX_UINT32) size_ = value->data.uint32;
  Free(value);
  if (size_ == 0) return Error{.what = "the server gives no job size", .where = "PMIx_Get"};
  return base::Ok();
}

Status Session::Put(const std::string& key, std::string_view bytes) {
  std::string copy(bytes);
  pmix_value_t value;
  std::memset(&value, 0, sizeof value);
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = copy.data();
  value.data.bo.size = copy.size();
  pmix_status_t status = PMIx_Put(PMIX_GLOBAL, key.c_str(), &value);
  if (status != PMIX_SUCCESS) return PmixError("PMIx_Put of " + key, status);
  status = PMIx_Commit();
  if (status != PMIX_SUCCESS) return PmixError("PMIx_Commit", status);
  return base::Ok();
}

Status Session::Fence(std::chrono::milliseconds deadline, std::string_view purpose) {
  const pmix_proc_t all = ProcessOf(name_space_, PMIX_RANK_WILDCARD);
  const pmix_info_t collect = Flag(PMIX_COLLECT_DATA);
  const auto state = std::make_shared<FenceState>();
  auto data = std::make_unique<std::shared_ptr<FenceState>>(state);
  const pmix_status_t asked = PMIx_Fence_nb(&all, 1, &collect, 1, OnFence, data.get());
  if (asked == PMIX_OPERATION_SUCCEEDED) return base::Ok();
  if (asked != PMIX_SUCCESS) return PmixError("PMIx_Fence_nb", asked);
  static_cast<void>(data.release());  // OnFence owns it now

  std::unique_lock<std::mutex> lock(state->mutex);
  if (!state->changed.wait_for(lock, deadline, [&] { return state->status.has_value(); })) {
    return Error{.code = Code::kTimeout,
                 .what = "rank " + std::to_string(rank_) + " of " + std::to_string(size_) + " waited " +
                         std::to_string(deadline.count()) + " ms for all other ranks to " + std::string(purpose),
                 .where = name_space_,
                 .hint =
                     "A task of this step has ended, hangs or is not yet started; srun -K ends the step at once "
                     "when a task fails."};
  }
  if (*state->status != PMIX_SUCCESS) {
    return PmixError("fence to " + std::string(purpose), *state->status,
                     *state->status == PMIX_ERR_TIMEOUT ? Code::kTimeout : Code::kInternal);
  }
  return base::Ok();
}

Result<std::string> Session::Get(std::uint32_t rank, const std::string& key) {
  // IMMEDIATE answers at once; a plain request for what nobody has hangs.
  const pmix_proc_t peer = ProcessOf(name_space_, rank);
  const pmix_info_t immediate = Flag(PMIX_IMMEDIATE);
  pmix_value_t* value = nullptr;
  const pmix_status_t status = PMIx_Get(&peer, key.c_str(), &immediate, 1, &value);
  if (status != PMIX_SUCCESS || value == nullptr) {
    return PmixError("PMIx_Get of " + key + " of rank " + std::to_string(rank), status,
                     status == PMIX_ERR_NOT_FOUND ? Code::kNotFound : Code::kInternal);
  }
  if (value->type != PMIX_BYTE_OBJECT) {
    Free(value);
    return Error{.what = "is no byte object", .where = key + " of rank " + std::to_string(rank)};
  }
  std::string bytes(value->data.bo.bytes, value->data.bo.size);
  Free(value);
  return bytes;
}

void Session::Abort(int code) {
  open_ = false;  // nothing more is asked of a server that may not answer
  // PMIx_Abort waits for its server without an end of its own, which a step with a dead task does not always give.
  constexpr std::chrono::seconds kPatience(2);
  const auto state = std::make_shared<FenceState>();
  std::thread([state, code] {
    const pmix_status_t status = PMIx_Abort(code, "", nullptr, 0);
    const std::lock_guard<std::mutex> lock(state->mutex);
    state->status = status;
    state->changed.notify_one();
  }).detach();
  std::unique_lock<std::mutex> lock(state->mutex);
  state->changed.wait_for(lock, kPatience, [&] { return state->status.has_value(); });
}

Status Session::Finalize() {
  if (!open_) return base::Ok();
  open_ = false;
  const pmix_status_t status = PMIx_Finalize(nullptr, 0);
  if (status != PMIX_SUCCESS) return PmixError("PMIx_Finalize", status);
  return base::Ok();
}

}  // namespace nccl_tune::pmix
