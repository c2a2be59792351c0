// SPDX-License-Identifier: Apache-2.0
//
// The end of a run that a signal ends, for all its processes: a rank that dies alone would leave the others waiting for
// it in a collective.
//
// Process 0 keeps what was measured, says why, and ends all at once. Mostly all processes get the signal (scancel, a
// time limit): the others leave it to process 0, whose files must be written before anything ends it, and whose line is
// enough. Only when they are still there after some seconds they were meant alone, and do the same.
//
// Threads: Conclude and Hold from any. One of its own waits: see end_signals.h for when to make it. Ownership: lives no
// longer than what Parts names.
#ifndef NCCL_TUNE_BENCH_SIGNALLED_END_H_
#define NCCL_TUNE_BENCH_SIGNALLED_END_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "bench/backend.h"
#include "bench/end_signals.h"

namespace nccl_tune::bench {

class SignalledEnd {
 public:
  struct Parts {
    Backend* backend = nullptr;
    std::uint64_t rank = 0;
    std::uint64_t ranks = 1;
    std::function<void(const std::string&)> fail{};  // why the run ends; keeps what was measured
    std::function<void(const std::string&)> note{};  // says a text on stderr, in a line of its own
    std::chrono::milliseconds patience{5000};        // of another process than 0
  };
  explicit SignalledEnd(Parts parts);

  // All is said and written: from now on a signal ends the process with this status, at once. srun ends the step when
  // another task was faster to end with a status.
  void Conclude(int status) { status_ = status; }

  // Does not return while a signal is ending the process: what then breaks is no failure to tell of.
  void Hold() const;

  // How long a rank leaves it to process 0: one after the other, so that one of many that were meant speaks for all.
  static std::chrono::milliseconds Patience(std::chrono::milliseconds least, std::uint64_t rank);

 private:
  static constexpr int kGoesOn = -1;
  bool IsConcluded() const { return status_ != kGoesOn; }
  void End(const std::string& text, int status);

  Parts parts_;
  std::atomic<int> status_{kGoesOn};
  std::atomic<bool> ending_{false};
  EndSignals signals_;  // last: its thread uses the others
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SIGNALLED_END_H_
