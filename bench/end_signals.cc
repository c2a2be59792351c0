// SPDX-License-Identifier: Apache-2.0
#include "bench/end_signals.h"

#include <pthread.h>

#include <cstring>
#include <utility>

namespace nccl_tune::bench {
namespace {

constexpr int kNoMore = SIGUSR2;  // from the destructor, to the one thread that waits for it

}  // namespace

EndSignals::EndSignals(std::function<void(const std::string&)> ends) : ends_(std::move(ends)) {
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

void EndSignals::Wait() {
  int number = 0;
  if (sigwait(&signals_, &number) != 0 || number == kNoMore) return;
  ends_("ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")");
  std::signal(number, SIG_DFL);
  sigset_t only{};
  sigemptyset(&only);
  sigaddset(&only, number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(number);
}

}  // namespace nccl_tune::bench
