// SPDX-License-Identifier: Apache-2.0
#include "bench/end_signals.h"

#include <pthread.h>

#include <cstring>
#include <ctime>
#include <utility>

namespace nccl_tune::bench {
namespace {

constexpr int kNoMore = SIGUSR2;  // from the destructor, to the one thread that waits for it

}  // namespace

EndSignals::EndSignals(Answers answers) : answers_(std::move(answers)) {
  sigemptyset(&signals_);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    // What nohup has set stays ignored.
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&signals_, number);
  }
  sigaddset(&signals_, kNoMore);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { Wait(); });
}

EndSignals::~EndSignals() {
  pthread_kill(thread_.native_handle(), kNoMore);
  thread_.join();
}

// Whether the destructor runs before the patience is at its end.
bool EndSignals::IsOverWithin(std::chrono::milliseconds patience) const {
  sigset_t no_more{};
  sigemptyset(&no_more);
  sigaddset(&no_more, kNoMore);
  const auto until = std::chrono::steady_clock::now() + patience;
  for (auto left = patience; left.count() > 0;
       left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now())) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec limit{.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(left - seconds).count()};
    if (sigtimedwait(&no_more, nullptr, &limit) == kNoMore) return true;
  }
  return false;
}

void EndSignals::Wait() {
  int number = 0;
  if (sigwait(&signals_, &number) != 0 || number == kNoMore || IsOverWithin(answers_.patience())) return;
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
