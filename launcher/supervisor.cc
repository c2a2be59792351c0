// SPDX-License-Identifier: Apache-2.0
#include "launcher/supervisor.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <utility>

#include "launcher/say.h"
#include "launcher/supervising.h"

namespace nccl_tune::launcher {
namespace {

using std::chrono::milliseconds;

// Ours, or of no use to a rank.
bool IsForwarded(int number) {
  constexpr int kOwn[] = {SIGCHLD, SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGFPE,
                          SIGILL,  SIGTRAP, SIGPIPE, SIGTTIN, SIGTTOU, SIGXFSZ};
  // The two below SIGRTMIN belong to the C library.
  if (number > SIGSYS && number < SIGRTMIN) return false;
  return std::find(std::begin(kOwn), std::end(kOwn), number) == std::end(kOwn);
}

bool EndsARun(int number) {
  return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT || number == SIGABRT;
}

}  // namespace

void Supervisor::OpenSignals() {
  sigset_t all;
  sigfillset(&all);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, number);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal_descriptor_ = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

void Supervisor::StartRanks() {
  for (RankPlan& one : plan_.ranks) {
    ranks_.push_back(std::make_unique<RankProcess>(std::move(one), plan_.node, start_));
    StartFault fault;
    if (!ranks_.back()->Start(signals_, &fault)) {
      if (!first_end_) first_end_ = ranks_.size() - 1;
      TellEnd(*ranks_.back()->end(), Clock::now());
    }
  }
  plan_.ranks.clear();
}

Outcome Supervisor::Run() {
  OpenSignals();
  for (const LinkEvent& one : links_.OpenBelow()) AddBelow(one);
  StartRanks();
  if (plan_.started) plan_.started();
  while (!Finished(Clock::now())) Wait();
  links_.Drain(milliseconds(500));
  if (plan_.is_root) NameTheSilent();
  return Conclude();
}

void Supervisor::Wait() {
  std::vector<pollfd> polls;
  signal_poll_ = 0;
  polls.push_back({.fd = signal_descriptor_, .events = POLLIN, .revents = 0});
  for (const auto& rank : ranks_) rank->AppendPolls(&polls);
  links_.AppendPolls(&polls);
  const auto before = Clock::now();
  const auto patience = std::chrono::ceil<milliseconds>(NextWake(before) - before);
  if (poll(polls.data(), polls.size(), static_cast<int>(std::max<std::int64_t>(0, patience.count()))) < 0) {
    for (pollfd& one : polls) one.revents = 0;
  }
  const auto now = Clock::now();
  for (const auto& rank : ranks_) rank->Advance(polls, now);
  if (polls[signal_poll_].revents != 0) TakeSignals();
  TakeChildren(now);
  for (const LinkEvent& event : links_.Advance(polls, now)) TakeEvent(event, now);
  WatchClock(now);
}

Clock::time_point Supervisor::NextWake(Clock::time_point now) const {
  constexpr std::chrono::seconds kLongest(60);
  auto next = now + kLongest;
  const auto sooner = [&next](const std::optional<Clock::time_point>& when) {
    if (when) next = std::min(next, *when);
  };
  for (const auto& rank : ranks_) {
    sooner(rank->NextDeadline());
    if (!plan_.options.no_output || !rank->running()) continue;
    const auto silent_at = rank->last_output() + *plan_.options.no_output;
    if (silent_at > now) sooner(silent_at);
  }
  sooner(links_.NextDeadline());
  sooner(judge_.due());
  sooner(kill_at_);
  if (give_up_at_ && *give_up_at_ > now) sooner(give_up_at_);
  sooner(answer_until_);
  sooner(look_until_);
  sooner(orphan_until_);
  if (below_.size() < plan_.children && start_ + kConnectPatience > now) sooner(start_ + kConnectPatience);
  if (plan_.is_root && plan_.options.timeout && !ending_) sooner(start_ + *plan_.options.timeout);
  return next;
}

void Supervisor::TakeSignals() {
  signalfd_siginfo info{};
  while (read(signal_descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (!IsForwarded(number)) continue;
    // Slurm's own signals come from our parent, slurmstepd.
    const bool has_it = plan_.slurm_signals_all && static_cast<pid_t>(info.ssi_pid) == getppid();
    for (const auto& rank : ranks_) {
      if (!has_it) rank->Signal(number);
    }
    if (EndsARun(number) && !outside_) {
      outside_ = number;
      if (!kill_at_) kill_at_ = Clock::now() + plan_.options.grace;
    }
  }
}

void Supervisor::TakeChildren(Clock::time_point now) {
  int status = 0;
  for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
    for (std::size_t index = 0; index < ranks_.size(); ++index) {
      if (ranks_[index]->pid() != pid || !ranks_[index]->running()) continue;
      ranks_[index]->Reap(status, now);
      if (outside_) ranks_[index]->Dismiss(now);
      if (ending_ || StatusOf(*ranks_[index]->end()) == 0) continue;
      if (!first_end_) first_end_ = index;
      TellEnd(*ranks_[index]->end(), now);
    }
  }
}

void Supervisor::WatchClock(Clock::time_point now) {
  WatchSilence(now);
  Judge(now);
  if (plan_.is_root && plan_.options.timeout && !ending_ && now >= start_ + *plan_.options.timeout &&
      !AllRanks(&RankProcess::settled)) {
    Report({.kind = FailureKind::kTimeout, .limit = std::chrono::duration<double>(*plan_.options.timeout).count()});
    BeginEnding(kTimedOut, kNobody, now);
  }
  if (orphan_until_ && now >= *orphan_until_) {
    orphan_until_.reset();
    if (orphan_speaks_ && !ending_) Say(plan_.node + ": the launcher of rank 0 has gone away; ending the other ranks");
    BeginEnding(kKilled, kNobody, now);
  }
  if (look_until_ && plan_.is_root && (now >= *look_until_ || looked_ + 1 >= plan_.tasks)) {
    look_until_.reset();
    Failure hang{.kind = FailureKind::kHang, .limit = std::chrono::duration<double>(*plan_.options.no_output).count()};
    std::sort(states_.begin(), states_.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    hang.states = std::move(states_);
    Report(std::move(hang));
    BeginEnding(kTimedOut, kNobody, now);
  }
  if (answer_until_ && now >= *answer_until_ && first_end_)
    BeginEnding(StatusOf(*ranks_[*first_end_]->end()), ranks_[*first_end_]->rank(), now);
  if (kill_at_ && now >= *kill_at_) {
    for (const auto& rank : ranks_) {
      rank->KillAll();
      rank->Dismiss(now);
    }
    kill_at_ = now + milliseconds(1000);  // one that was being started meanwhile
  }
  const bool below_done =
      std::all_of(below_.begin(), below_.end(), [](const Below& one) { return one.done || one.gone; });
  const bool all_below = below_.size() >= plan_.children || now >= start_ + kConnectPatience;
  if (!told_done_ && below_done && all_below && AllRanks(&RankProcess::settled)) {
    told_done_ = true;
    links_.SendUp({.kind = Message::Kind::kDone});
  }
}

void Supervisor::BeginEnding(int status, std::uint32_t first, Clock::time_point now) {
  answer_until_.reset();
  if (ending_) return;
  ending_ = status;
  ending_rank_ = first;
  links_.SendDown({.kind = Message::Kind::kEnd, .rank = first, .status = status});
  for (const auto& rank : ranks_) {
    rank->Signal(SIGTERM);
    rank->Signal(SIGCONT);  // one that is stopped would not see it
    rank->Dismiss(now);
  }
  give_up_at_ = now + plan_.options.grace + kGiveUpPatience;
  const auto kill_at = now + plan_.options.grace;
  kill_at_ = kill_at_ ? std::min(*kill_at_, kill_at) : kill_at;
}

bool Supervisor::AllRanks(bool (RankProcess::*is)() const) const {
  return std::all_of(ranks_.begin(), ranks_.end(), [is](const auto& rank) { return (rank.get()->*is)(); });
}

bool Supervisor::Finished(Clock::time_point now) const {
  if (!AllRanks(&RankProcess::settled) || judge_.due() || look_until_ || orphan_until_) return false;
  if (links_.AwaitsParent()) return false;
  if (answer_until_ && now < *answer_until_) return false;
  // Those below need us to hear from rank 0, until they have ended; some may not even have connected yet.
  const auto live =
      std::count_if(below_.begin(), below_.end(), [](const Below& one) { return !one.done && !one.gone; });
  if (live > 0) return give_up_at_ && now >= *give_up_at_;
  return told_done_ || ending_ || outside_;
}

Outcome Supervisor::Conclude() const {
  // A rank that failed because another had ends as that one did, so that srun's status is the first's.
  if (ending_ && (!first_end_ || ranks_[*first_end_]->rank() != ending_rank_)) {
    for (const auto& rank : ranks_) {
      if (rank->rank() == ending_rank_ && rank->end())
        return {.status = StatusOf(*rank->end()), .signal = rank->end()->signal};
    }
    return {.status = *ending_};
  }
  if (!first_end_) return {};
  const RankEnd& end = *ranks_[*first_end_]->end();
  return {.status = StatusOf(end), .signal = end.signal};
}

Outcome Supervise(Supervision supervision, Links links, const SavedSignals& signals, Clock::time_point start) {
  return Supervisor(std::move(supervision), std::move(links), signals, start).Run();
}

void EndAs(const Outcome& outcome) {
  std::cout.flush();
  std::cerr.flush();
  if (outcome.signal) {
    // One core, the rank's, is enough: neither a file nor, where cores go to a program, that.
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    signal(*outcome.signal, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, *outcome.signal);
    raise(*outcome.signal);
    pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  }
  _exit(outcome.status);
}

}  // namespace nccl_tune::launcher
