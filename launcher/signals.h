// SPDX-License-Identifier: Apache-2.0
//
// The signal mask and dispositions as the task got them: PMIx and a supervisor change them, PROGRAM must find them as
// they were. Call both on the main thread while there is no other.
#ifndef NCCL_TUNE_LAUNCHER_SIGNALS_H_
#define NCCL_TUNE_LAUNCHER_SIGNALS_H_

#include <csignal>

namespace nccl_tune::launcher {

struct SavedSignals {
  sigset_t mask;
  struct sigaction pipe;
  struct sigaction file_size;
};

inline SavedSignals SaveSignals() {
  SavedSignals saved{};
  pthread_sigmask(SIG_SETMASK, nullptr, &saved.mask);
  sigaction(SIGPIPE, nullptr, &saved.pipe);
  sigaction(SIGXFSZ, nullptr, &saved.file_size);
  return saved;
}

// A file that reaches its limit (ulimit -f) is an error of its write then, not our end.
inline void IgnoreFileSize() { signal(SIGXFSZ, SIG_IGN); }

inline void RestoreSignals(const SavedSignals& saved) {
  sigaction(SIGPIPE, &saved.pipe, nullptr);
  sigaction(SIGXFSZ, &saved.file_size, nullptr);
  pthread_sigmask(SIG_SETMASK, &saved.mask, nullptr);
}

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_SIGNALS_H_
