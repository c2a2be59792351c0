// SPDX-License-Identifier: Apache-2.0
//
// Notices that the run is to end: SIGTERM, SIGINT and SIGHUP, as scancel, a time limit and srun --kill-on-bad-exit send
// them, so that what was measured until then is written.
//
// Threads: one of its own waits; make it before any other thread, which inherits the blocked signals. Ownership: lives
// as long as what `ends` uses; the destructor waits for its thread. The signals then stay blocked: what is done ends
// with its own status, also when another task's status makes srun end the step.
#ifndef NCCL_TUNE_BENCH_END_SIGNALS_H_
#define NCCL_TUNE_BENCH_END_SIGNALS_H_

#include <csignal>
#include <functional>
#include <string>
#include <thread>

namespace nccl_tune::bench {

class EndSignals {
 public:
  // Calls `ends` with "ended by signal 15 (Terminated)", on its own thread; then the signal ends the process as ever.
  explicit EndSignals(std::function<void(const std::string&)> ends);
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

 private:
  void Wait();

  std::function<void(const std::string&)> ends_;
  sigset_t signals_{};
  std::thread thread_;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_END_SIGNALS_H_
