// SPDX-License-Identifier: Apache-2.0
//
// One connection between two launchers: lines of text over a socket, never blocking. A line is bounded, and so is what
// waits to be sent, so that a peer that is slow, broken or hostile costs a bound and not the job.
//
// Threads: used by one thread. Ownership: a Channel owns its descriptor. Errors: a connection that broke is `false`.
#ifndef NCCL_TUNE_LAUNCHER_CHANNEL_H_
#define NCCL_TUNE_LAUNCHER_CHANNEL_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nccl_tune::launcher {

class Channel {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{64} << 10U;
  static constexpr std::size_t kMostWaiting = std::size_t{4} << 20U;

  // Takes the descriptor of a connected stream socket and makes it non-blocking and close-on-exec.
  explicit Channel(int descriptor);
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;

  int descriptor() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }
  // What to poll for.
  short Events() const;

  // Reads what is there and appends the complete lines, without their ends. False when the other end has closed, the
  // connection broke, or a line is longer than the bound: the lines so far count, and the channel is closed.
  bool Read(std::vector<std::string>* lines);

  // Sends, or keeps for Flush what the socket does not take now. `line` holds no newline. False when the connection is
  // gone or too much waits.
  bool Send(std::string_view line);
  bool Flush();
  bool waiting() const { return !out_.empty(); }

  void Close();

 private:
  int descriptor_ = -1;
  std::string in_;
  std::string out_;
};

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_CHANNEL_H_
