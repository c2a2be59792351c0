// SPDX-License-Identifier: Apache-2.0
#include "spank/report_collector.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "hw/own_addresses.h"
#include "spank/child.h"
#include "spank/deadline.h"
#include "spank/report_groups.h"
#include "spank/report_protocol.h"
#include "spank/socket_address.h"

namespace nccl_tune::spank {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostConnections = 64;  // at once; for a further one the oldest goes

base::Error ErrnoFailure(const char* call) {
  return {.code = base::Code::kInternal, .what = std::string(call) + ": " + std::generic_category().message(errno)};
}

std::string MakeToken() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const auto byte : bytes) out += {kDigits[byte >> 4], kDigits[byte & 15]};
  return out;
}

// As many as a place can hold.
std::vector<facts::IpAddress> PlaceAddresses() {
  constexpr std::size_t kMost = 8;
  auto out = hw::OwnAddresses();
  if (out.size() > kMost) out.resize(kMost);
  return out;
}

// Listens on a free port, for both families where there are both. -1: errno says why.
int Listen(int* port) {
  for (const int family : {AF_INET6, AF_INET}) {
    const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    const int off = 0;
    if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    SocketAddress any;
    any.storage.ss_family = static_cast<sa_family_t>(family);
    any.length = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    if (bind(fd, any.get(), any.length) == 0 && listen(fd, SOMAXCONN) == 0 &&
        getsockname(fd, any.get(), &any.length) == 0) {
      *port = PortOf(any);
      return fd;
    }
    close(fd);
  }
  return -1;
}

// Whether the other end has gone, with nothing more to read.
bool IsGone(int fd) {
  char none;
  return recv(fd, &none, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

// Waits only while someone may read it: until `end`, or a moment after srun has ended.
void Print(std::string_view text, int life, Clock::time_point end) {
  constexpr std::size_t kAtOnce = 4096;  // what a pipe that is ready for writing takes without waiting
  constexpr milliseconds kMoment{500};
  bool is_over = false;
  while (!text.empty()) {
    std::array<pollfd, 2> waited = {{{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0},
                                     {.fd = is_over ? -1 : life, .events = 0, .revents = 0}}};
    const int ready = poll(waited.data(), waited.size(), Remaining(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return;
    if (waited[1].revents != 0) {
      is_over = true;
      end = std::min(end, Clock::now() + kMoment);
    }
    if (waited[0].revents == 0) continue;
    const auto wrote = write(STDERR_FILENO, text.data(), std::min(text.size(), kAtOnce));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

// The process beside srun.
class Collector {
 public:
  Collector(int listener, int life, std::string token, int nodes, const CollectorTimes& times)
      : end_(Clock::now() + times.longest),
        listener_(listener),
        life_(life),
        token_(std::move(token)),
        nodes_(nodes),
        times_(times) {}

  // Reports are printed once none has come for the quiet time; bytes of who says nothing of use do not count.
  void Run() {
    while (static_cast<int>(seen_.size()) < nodes_ && !is_over_ && Remaining(end_) > 0) {
      Poll(reports_.empty() ? end_ : std::min(end_, last_report_ + times_.quiet));
      if (!reports_.empty() && Remaining(last_report_ + times_.quiet) == 0) Flush();
    }
    Flush();
  }

 private:
  struct Connection {
    int fd;
    std::string text;
  };

  void Poll(Clock::time_point until) {
    std::vector<pollfd> waited = {{.fd = life_, .events = 0, .revents = 0},
                                  {.fd = accepts_ ? listener_ : -1, .events = POLLIN, .revents = 0}};
    for (const auto& one : connections_) waited.push_back({.fd = one.fd, .events = POLLIN, .revents = 0});
    if (poll(waited.data(), waited.size(), Remaining(until)) < 0) {
      is_over_ = errno != EINTR;
      return;
    }
    is_over_ = waited[0].revents != 0;
    for (std::size_t i = 2; i < waited.size(); ++i) {
      if (waited[i].revents != 0) ReadFrom(waited[i].fd);
    }
    if (waited[1].revents != 0) Accept();
  }

  void Accept() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      connections_.push_back({.fd = fd, .text = ""});
    } else if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED) {
      accepts_ = false;  // out of descriptors, say: it would be ready for ever
      if (connections_.empty()) is_over_ = true;
    }
    // A node that tells is done within milliseconds; who keeps silent makes room.
    if (!connections_.empty() && (connections_.size() > kMostConnections || !accepts_)) Close(connections_.begin());
  }

  void Close(std::deque<Connection>::iterator one) {
    close(one->fd);
    connections_.erase(one);
    accepts_ = true;
  }

  void ReadFrom(int fd) {
    const auto one = std::find_if(connections_.begin(), connections_.end(), [fd](const auto& c) { return c.fd == fd; });
    if (one == connections_.end()) return;
    std::string& text = one->text;
    std::array<char, 8192> block;
    const auto got = recv(fd, block.data(), block.size(), 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got > 0) text.append(block.data(), static_cast<std::size_t>(got));
    const auto end = text.find('\n');
    if (got > 0 && end == std::string::npos && text.size() <= kReportLimit) return;
    auto report = ParseReport(std::string_view(text).substr(0, end), token_);
    if (report.ok() && !IsGone(fd)) {  // one that has given up prints its own
      (void)send(fd, kReceived.data(), kReceived.size(), MSG_NOSIGNAL);
      last_report_ = Clock::now();
      if (seen_.insert(report->node).second) reports_.push_back(std::move(report).value());
    }
    Close(one);
  }

  void Flush() { Print(GroupReports(std::exchange(reports_, {})), life_, end_); }

  const Clock::time_point end_;

  const int listener_;
  const int life_;  // readable when srun has ended
  const std::string token_;
  const int nodes_;
  const CollectorTimes times_;
  bool is_over_ = false;
  bool accepts_ = true;
  Clock::time_point last_report_{};
  std::deque<Connection> connections_;  // the oldest first
  std::vector<Report> reports_;
  std::set<std::string> seen_;
};

// In the grandchild, which is nobody's to wait for. This is a copy of srun: whatever happens, it must not go on as one.
[[noreturn]] void BeCollector(int listener, int life, const std::string& token, int nodes,
                              const CollectorTimes& times) noexcept try {
  // Only these two and stderr stay open: a pipe of srun's would keep its reader waiting.
  constexpr int kListener = 3;
  constexpr int kLife = 4;
  const int high = fcntl(life, F_DUPFD, 16);
  if (listener != kListener) dup2(listener, kListener);
  dup2(high, kLife);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  CloseFrom(kLife + 1);
  prctl(PR_SET_NAME, "nccl-tune");
  // What a terminal sends is for srun, which may go on; this ends with srun.
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP}) signal(number, SIG_IGN);
  Collector(kListener, kLife, token, nodes, times).Run();
  _exit(0);
} catch (...) {
  _exit(1);
}

}  // namespace

base::Result<std::string> StartCollector(int nodes, const CollectorTimes& times) {
  CollectorPlace place{.port = 0, .token = MakeToken(), .addresses = PlaceAddresses()};
  if (place.token.empty()) return ErrnoFailure("getrandom");
  if (place.addresses.empty())
    return base::Error{.code = base::Code::kNotFound, .what = "this host has no address that nodes could reach"};
  std::array<int, 2> life;
  if (pipe2(life.data(), O_CLOEXEC) != 0) return ErrnoFailure("pipe");
  const int listener = Listen(&place.port);
  if (listener < 0) {
    const auto error = ErrnoFailure("listen");
    for (const int fd : life) close(fd);
    return error;
  }
  const pid_t pid = fork();
  if (pid == 0) {
    ResetSignals();
    BeUnreadable();
    close(life[1]);  // else it would wait for itself
    if (fork() == 0) BeCollector(listener, life[0], place.token, nodes, times);
    _exit(0);
  }
  close(listener);
  close(life[0]);
  if (pid < 0) {
    close(life[1]);
    return ErrnoFailure("fork");
  }
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return ToText(place);
}

}  // namespace nccl_tune::spank
