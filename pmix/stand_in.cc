// SPDX-License-Identifier: Apache-2.0
#include "pmix/stand_in.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

namespace nccl_tune::pmix {
namespace {

using base::Code;
using base::Error;

struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<std::uint32_t, std::string>, std::string> entries;  // what fences have carried
  std::uint32_t arrived = 0;
  std::uint64_t fences = 0;  // complete ones
};

class Member final : public Exchange {
 public:
  Member(std::shared_ptr<Board> board, std::uint32_t rank, std::uint32_t size)
      : board_(std::move(board)), rank_(rank), size_(size) {}

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }

  base::Status Put(const std::string& key, std::string_view bytes) override {
    offered_[key] = bytes;
    return base::Ok();
  }

  base::Status Fence(std::chrono::milliseconds deadline, std::string_view purpose) override {
    std::unique_lock<std::mutex> lock(board_->mutex);
    for (const auto& [key, bytes] : offered_) board_->entries[{rank_, key}] = bytes;
    offered_.clear();
    const std::uint64_t before = board_->fences;
    if (++board_->arrived == size_) {
      board_->arrived = 0;
      ++board_->fences;
      board_->changed.notify_all();
      return base::Ok();
    }
    if (board_->changed.wait_for(lock, deadline, [&] { return board_->fences != before; })) return base::Ok();
    return Error{.code = Code::kTimeout,
                 .what = "rank " + std::to_string(rank_) + " of " + std::to_string(size_) +
                         " waited for all other ranks to " + std::string(purpose)};
  }

  base::Result<std::string> Get(std::uint32_t rank, const std::string& key) override {
    const std::lock_guard<std::mutex> lock(board_->mutex);
    const auto found = board_->entries.find({rank, key});
    if (found != board_->entries.end()) return found->second;
    return Error{.code = Code::kNotFound, .what = "nothing put", .where = key + " of rank " + std::to_string(rank)};
  }

  void Abort(int) override {}
  base::Status Finalize() override { return base::Ok(); }

 private:
  std::shared_ptr<Board> board_;
  std::uint32_t rank_;
  std::uint32_t size_;
  std::map<std::string, std::string> offered_;
};

}  // namespace

std::vector<std::unique_ptr<Exchange>> MakeStandIns(std::uint32_t size) {
  const auto board = std::make_shared<Board>();
  std::vector<std::unique_ptr<Exchange>> members;
  members.reserve(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) members.push_back(std::make_unique<Member>(board, rank, size));
  return members;
}

}  // namespace nccl_tune::pmix
