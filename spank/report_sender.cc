// SPDX-License-Identifier: Apache-2.0
#include "spank/report_sender.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "spank/deadline.h"
#include "spank/socket_address.h"

namespace nccl_tune::spank {
namespace {

int StartConnecting(const facts::IpAddress& address, int port) {
  const SocketAddress where = MakeSocketAddress(address, port);
  const int fd = socket(where.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, where.get(), where.length) == 0 || errno == EINPROGRESS) return fd;
  close(fd);
  return -1;
}

bool IsConnected(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
}

// The first that is connected, -1: none within the time. Closes the others.
int AwaitFirst(std::vector<int> sockets, Clock::time_point end) {
  while (!sockets.empty()) {
    std::vector<pollfd> waited;
    for (const int fd : sockets) waited.push_back({.fd = fd, .events = POLLOUT, .revents = 0});
    const int ready = poll(waited.data(), waited.size(), Remaining(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    for (const auto& one : waited) {
      if (one.revents == 0) continue;
      std::erase(sockets, one.fd);
      if (IsConnected(one.fd)) {
        for (const int other : sockets) close(other);
        return one.fd;
      }
      close(one.fd);
    }
  }
  for (const int fd : sockets) close(fd);
  return -1;
}

bool Await(int fd, short events, Clock::time_point end) {
  pollfd waited{.fd = fd, .events = events, .revents = 0};
  int ready;
  do ready = poll(&waited, 1, Remaining(end));
  while (ready < 0 && errno == EINTR);
  return ready == 1;
}

bool SendAll(int fd, std::string_view text, Clock::time_point end) {
  while (!text.empty()) {
    const auto sent = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN && Await(fd, POLLOUT, end)) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool IsReceived(int fd, Clock::time_point end) {
  std::array<char, 16> block;
  std::string answer;
  while (answer.size() < kReceived.size() && Await(fd, POLLIN, end)) {
    const auto got = recv(fd, block.data(), block.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    answer.append(block.data(), static_cast<std::size_t>(got));
  }
  return answer == kReceived;
}

}  // namespace

bool SendReport(std::string_view collector, const Report& report, std::chrono::milliseconds patience) {
  const auto place = ParseCollectorPlace(collector);
  if (!place.ok()) return false;
  const std::string line = ToLine(report, place->token);
  if (line.size() > kReportLimit) return false;
  const auto end = Clock::now() + patience;
  std::vector<int> sockets;
  for (const auto& address : place->addresses) {
    const int fd = StartConnecting(address, place->port);
    if (fd >= 0) sockets.push_back(fd);
  }
  const int fd = AwaitFirst(std::move(sockets), end);
  if (fd < 0) return false;
  const bool received = SendAll(fd, line, end) && IsReceived(fd, end);
  close(fd);
  return received;
}

}  // namespace nccl_tune::spank
