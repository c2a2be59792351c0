// SPDX-License-Identifier: Apache-2.0
#include "bench/watchdog.h"

#include <algorithm>
#include <utility>

namespace nccl_tune::bench {

Watchdog::Watchdog(std::chrono::nanoseconds limit, std::function<void()> late)
    : limit_(limit), late_(std::move(late)), thread_([this] { Look(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void Watchdog::Look() {
  constexpr int kLooks = 10;  // per limit
  const auto pause = std::min<std::chrono::nanoseconds>(limit_ / kLooks, std::chrono::seconds(1));
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, pause, [this] { return ended_; })) {
    const std::int64_t since = since_.load(std::memory_order_relaxed);
    if (since == kIdle || std::chrono::nanoseconds(Now() - since) <= limit_) continue;
    lock.unlock();
    late_();
    return;
  }
}

}  // namespace nccl_tune::bench
