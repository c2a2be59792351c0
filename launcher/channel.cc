// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace nccl_tune::launcher {
namespace {

bool WouldBlock(int reason) { return reason == EAGAIN || reason == EWOULDBLOCK; }

}  // namespace

Channel::Channel(int descriptor) : descriptor_(descriptor) {
  if (descriptor < 0) return;
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

Channel::~Channel() { Close(); }

Channel::Channel(Channel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), in_(std::move(other.in_)), out_(std::move(other.out_)) {}

Channel& Channel::operator=(Channel&& other) noexcept {
  if (this == &other) return *this;
  Close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  in_ = std::move(other.in_);
  out_ = std::move(other.out_);
  return *this;
}

void Channel::Close() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  out_.clear();
}

short Channel::Events() const { return static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT)); }

bool Channel::Read(std::vector<std::string>* lines) {
  std::array<char, 16384> block;
  while (open()) {
    const ssize_t got = recv(descriptor_, block.data(), block.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && WouldBlock(errno)) return true;
    if (got <= 0) break;
    std::string_view rest(block.data(), static_cast<std::size_t>(got));
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      in_.append(rest.substr(0, end));
      rest.remove_prefix(end + 1);
      if (in_.size() > kLongestLine) break;
      lines->push_back(std::exchange(in_, {}));
    }
    in_.append(rest);
    if (in_.size() > kLongestLine) break;
  }
  Close();
  return false;
}

bool Channel::Send(std::string_view line) {
  if (!open() || out_.size() + line.size() > kMostWaiting) return false;
  out_.append(line);
  out_ += '\n';
  return Flush();
}

bool Channel::Flush() {
  std::size_t sent = 0;
  while (open() && sent < out_.size()) {
    const ssize_t took = send(descriptor_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (took < 0 && errno == EINTR) continue;
    if (took < 0 && WouldBlock(errno)) break;
    if (took < 0) {
      Close();
      return false;
    }
    sent += static_cast<std::size_t>(took);
  }
  out_.erase(0, sent);
  return open();
}

}  // namespace nccl_tune::launcher
