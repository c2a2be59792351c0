// SPDX-License-Identifier: Apache-2.0
//
// Notices that the run is to end: SIGTERM, SIGINT and SIGHUP, as scancel, a time limit and srun --kill-on-bad-exit send
// them, so that what was measured until then is written.
//
// Threads: one of its own waits; make it before any other thread, which inherits the blocked signals. Ownership: lives
// as long as what its answers use; the destructor waits for its thread. The signals then stay blocked: what is done
// ends with its own status, also when another task's status makes srun end the step.
#ifndef NCCL_TUNE_BENCH_END_SIGNALS_H_
#define NCCL_TUNE_BENCH_END_SIGNALS_H_

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

namespace nccl_tune::bench {

class EndSignals {
 public:
  // Both are called on its own thread.
  struct Answers {
    // At the first signal: how long to wait before `end`. Meanwhile the run goes on, and may come to its own end.
    std::function<std::chrono::milliseconds()> patience{};
    // Gets "ended by signal 15 (Terminated)" and the status that tells it, 128 + 15; then the signal ends the process
    // as ever.
    std::function<void(const std::string& text, int status)> end{};
  };
  explicit EndSignals(Answers answers);
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

 private:
  void Wait();
  bool IsOverWithin(std::chrono::milliseconds patience) const;
  int Next() const;

  Answers answers_;
  sigset_t signals_{};
  int arrived_ = -1;  // signalfd
  int over_ = -1;     // eventfd, of the destructor
  std::thread thread_;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_END_SIGNALS_H_
