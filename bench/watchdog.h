// SPDX-License-Identifier: Apache-2.0
//
// Notices what does not come to an end: -T for calls that block.
//
// Threads: one of its own looks; Begin and End come from any one other. Ownership: the destructor waits for the thread,
// so `late` must not run for ever unless it ends the process.
#ifndef NCCL_TUNE_BENCH_WATCHDOG_H_
#define NCCL_TUNE_BENCH_WATCHDOG_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace nccl_tune::bench {

class Watchdog {
 public:
  // Calls `late` once, on its own thread, when the time between Begin and End exceeds `limit` (> 0).
  Watchdog(std::chrono::nanoseconds limit, std::function<void()> late);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Nothing when it has begun already: several calls may count as one.
  void Begin() {
    if (since_.load(std::memory_order_relaxed) == kIdle) since_.store(Now(), std::memory_order_relaxed);
  }
  void End() { since_.store(kIdle, std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kIdle = 0;
  static std::int64_t Now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  void Look();

  std::chrono::nanoseconds limit_;
  std::function<void()> late_;
  std::atomic<std::int64_t> since_{kIdle};  // nanoseconds of the steady clock
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::thread thread_;
};

// Begin and End of one call; nothing without a watchdog.
class Watched {
 public:
  explicit Watched(Watchdog* dog) : dog_(dog) {
    if (dog_ != nullptr) dog_->Begin();
  }
  ~Watched() {
    if (dog_ != nullptr) dog_->End();
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Watchdog* dog_;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_WATCHDOG_H_
