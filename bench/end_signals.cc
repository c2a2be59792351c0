// SPDX-License-Identifier: Apache-2.0
#include "bench/end_signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

namespace nccl_tune::bench {

EndSignals::EndSignals(Answers answers) : answers_(std::move(answers)) {
  sigemptyset(&signals_);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    // What nohup has set stays ignored.
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&signals_, number);
  }
  arrived_ = signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK);
  over_ = eventfd(0, EFD_CLOEXEC);
  // Without descriptors the signals do what they always do.
  if (arrived_ < 0 || over_ < 0) return;
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { Wait(); });
}

EndSignals::~EndSignals() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t told = write(over_, &one, sizeof one);
    thread_.join();
  }
  for (const int descriptor : {arrived_, over_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

// Whether the destructor runs before the patience is at its end.
bool EndSignals::IsOverWithin(std::chrono::milliseconds patience) const {
  using std::chrono::steady_clock;
  const auto until = steady_clock::now() + patience;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
    pollfd over{.fd = over_, .events = POLLIN, .revents = 0};
    const int ready = poll(&over, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

// The first signal, or 0 when the destructor runs before one comes.
int EndSignals::Next() const {
  while (true) {
    std::array<pollfd, 2> both{
        {{.fd = over_, .events = POLLIN, .revents = 0}, {.fd = arrived_, .events = POLLIN, .revents = 0}}};
    if (poll(both.data(), both.size(), -1) < 0 && errno != EINTR) return 0;
    if (both[0].revents != 0) return 0;
    signalfd_siginfo info{};
    if (both[1].revents != 0 && read(arrived_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      return static_cast<int>(info.ssi_signo);
    }
  }
}

void EndSignals::Wait() {
  const int number = Next();
  if (number == 0 || IsOverWithin(answers_.patience())) return;
  constexpr int kSignal = 128;  // as a shell's
  answers_.end("ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")", kSignal + number);
  std::signal(number, SIG_DFL);
  sigset_t only{};
  sigemptyset(&only);
  sigaddset(&only, number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(number);
}

}  // namespace nccl_tune::bench
