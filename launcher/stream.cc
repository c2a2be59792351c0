// SPDX-License-Identifier: Apache-2.0
#include "launcher/stream.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

namespace nccl_tune::launcher {
namespace {

// An unfinished line with a tag is passed on when nothing more has come for so long.
constexpr std::chrono::milliseconds kHeldFor(500);
constexpr std::size_t kBlock = std::size_t{64} << 10U;

}  // namespace

Stream::Stream(int from, int to, LineTracker tracker, Sink log)
    : from_(from), to_(to), tracker_(std::move(tracker)), log_(std::move(log)) {}

Stream::~Stream() { StopReading(); }

Stream::Stream(Stream&& other) noexcept { *this = std::move(other); }

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  StopReading();
  from_ = std::exchange(other.from_, -1);
  to_ = other.to_;
  tracker_ = std::move(other.tracker_);
  log_ = std::move(other.log_);
  pending_ = std::move(other.pending_);
  other.pending_.clear();
  broken_ = other.broken_;
  last_ = other.last_;
  return *this;
}

void Stream::StopReading() {
  if (from_ >= 0) close(from_);
  from_ = -1;
}

void Stream::AppendPolls(std::vector<pollfd>* polls) {
  poll_ = polls->size();
  polls->push_back({.fd = pending_.empty() ? from_ : -1, .events = POLLIN, .revents = 0});
  polls->push_back({.fd = pending_.empty() ? -1 : to_, .events = POLLOUT, .revents = 0});
}

bool Stream::Advance(const std::vector<pollfd>& polls, Time now) {
  if (polls[poll_ + 1].revents != 0) WriteSome();
  if (polls[poll_].revents != 0) return ReadSome(now);
  if (tracker_.holding() && pending_.empty() && now - last_ > kHeldFor) pending_ = tracker_.Flush();
  return false;
}

bool Stream::ReadSome(Time now) {
  static thread_local std::array<char, kBlock> block;
  const ssize_t got = read(from_, block.data(), block.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (got <= 0) {
    StopReading();
    pending_ += tracker_.Flush();
    return false;
  }
  const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
  if (log_) log_(bytes);
  last_ = now;
  std::string out = tracker_.Feed(bytes);
  if (!broken_) pending_ += out;
  return true;
}

void Stream::WriteSome() {
  // A pipe that polls as writable takes this much without blocking.
  const std::size_t most = std::min<std::size_t>(pending_.size(), PIPE_BUF);
  const ssize_t took = write(to_, pending_.data(), most);
  if (took < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (took < 0) {  // EPIPE: srun is gone; the rank goes on, as it would after a signal it ignores
    broken_ = true;
    pending_.clear();
    return;
  }
  pending_.erase(0, static_cast<std::size_t>(took));
}

void Stream::Finish() {
  for (bool more = from_ >= 0; more;) more = ReadSome({}) && pending_.size() < (std::size_t{1} << 20U);
  StopReading();
  pending_ += tracker_.Flush();
}

}  // namespace nccl_tune::launcher
