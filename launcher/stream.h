// SPDX-License-Identifier: Apache-2.0
//
// One output of a rank on its way: read from its pipe, looked at, logged, written on. Nothing is written that could
// block: while the reader of our output is slow, the rank's pipe is left full, as it would be without us.
//
// Threads: used by one thread, which polls. Ownership: owns the read end, not where it writes to.
#ifndef NCCL_TUNE_LAUNCHER_STREAM_H_
#define NCCL_TUNE_LAUNCHER_STREAM_H_

#include <poll.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "launcher/line_tracker.h"

namespace nccl_tune::launcher {

class Stream {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Sink = std::function<void(std::string_view)>;

  Stream() = default;
  // `log` takes every byte too; may be empty.
  Stream(int from, int to, LineTracker tracker, Sink log);
  ~Stream();
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;

  // The other end of the pipe is open, or something waits to be written.
  bool active() const { return from_ >= 0 || !pending_.empty(); }
  bool reading() const { return from_ >= 0; }
  void AppendPolls(std::vector<pollfd>* polls);
  // True when the rank wrote something.
  bool Advance(const std::vector<pollfd>& polls, Time now);
  // Reads what is in the pipe now, writes as far as it goes without blocking, and closes the pipe.
  void Finish();
  void StopReading();

  const LineTracker& tracker() const { return tracker_; }
  // When the rank last wrote something here.
  Time last() const { return last_; }

 private:
  bool ReadSome(Time now);
  void WriteSome();

  int from_ = -1;
  int to_ = -1;
  LineTracker tracker_{};
  Sink log_{};
  std::string pending_{};
  bool broken_ = false;  // nobody reads our output any more
  Time last_{};
  std::size_t poll_ = 0;
};

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_STREAM_H_
