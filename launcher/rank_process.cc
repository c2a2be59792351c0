// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "base/json.h"
#include "launcher/inspect.h"

namespace nccl_tune::launcher {
namespace {

// How long what a dismissed rank has left behind may still write.
constexpr std::chrono::milliseconds kLastWords(300);

// {"message": {"message": "...", ...}} or {"message": "..."}.
std::optional<std::string> ReadPythonError(const std::string& path) {
  if (path.empty()) return std::nullopt;
  constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const auto json = base::ParseJson(text);
  if (!json.ok()) return std::nullopt;
  if (const auto plain = base::GetString(*json, "message")) return plain;
  return base::GetString(base::GetMember(*json, "message"), "message");
}

}  // namespace

RankProcess::RankProcess(RankPlan plan, std::string node, Time started)
    : plan_(std::move(plan)), node_(std::move(node)), started_(started), last_output_(started) {}

RankProcess::~RankProcess() {
  if (!running()) return;
  KillAll();
  waitpid(pid_, nullptr, 0);
}

bool RankProcess::Start(const SavedSignals& signals, StartFault* fault) {
  oom_kills_ = CountOomKills();
  Child child;
  if (!StartChild(plan_.start, signals, &child, fault)) {
    end_ = RankEnd{.rank = plan_.rank,
                   .local_rank = plan_.local_rank,
                   .node = node_,
                   .exit_code = fault->status,
                   .last_lines = {fault->text}};
    return false;
  }
  pid_ = child.pid;
  const auto log = plan_.log;
  Stream::Sink sink;
  if (log != nullptr) {
    sink = [log](std::string_view bytes) {
      if (const auto why = log->Write(bytes)) std::cerr << "nccl-launch: " + *why + "\n" << std::flush;
    };
  }
  if (child.output >= 0) output_ = Stream(child.output, STDOUT_FILENO, LineTracker(plan_.tag), sink);
  if (child.errors >= 0) errors_ = Stream(child.errors, STDERR_FILENO, LineTracker(plan_.tag), sink);
  return true;
}

void RankProcess::AppendPolls(std::vector<pollfd>* polls) {
  output_.AppendPolls(polls);
  errors_.AppendPolls(polls);
}

void RankProcess::Advance(const std::vector<pollfd>& polls, Time now) {
  const bool wrote = output_.Advance(polls, now);
  if (errors_.Advance(polls, now) || wrote) last_output_ = now;
  if (!end_ || !dismissed_ || closed_ || now < std::max(ended_, *dismissed_) + kLastWords) return;
  closed_ = true;
  if (output_.reading()) output_.Finish();
  if (errors_.reading()) errors_.Finish();
  if (plan_.start.own_group && pid_ > 0) kill(-pid_, SIGKILL);
}

void RankProcess::Dismiss(Time now) {
  if (!dismissed_) dismissed_ = now;
}

std::optional<RankProcess::Time> RankProcess::NextDeadline() const {
  constexpr std::chrono::milliseconds kHeldLine(500);
  std::optional<Time> next;
  if (end_ && dismissed_ && !closed_) next = std::max(ended_, *dismissed_) + kLastWords;
  if (output_.tracker().holding() || errors_.tracker().holding()) {
    const auto flush = std::chrono::steady_clock::now() + kHeldLine;
    next = next ? std::min(*next, flush) : flush;
  }
  return next;
}

void RankProcess::Reap(int status, Time now) {
  ended_ = now;
  // What it wrote last is in the pipes by now: the report needs it.
  std::vector<pollfd> polls;
  AppendPolls(&polls);
  poll(polls.data(), polls.size(), 0);
  Advance(polls, now);
  DescribeEnd(status, now);
}

void RankProcess::DescribeEnd(int status, Time now) {
  RankEnd end{.rank = plan_.rank, .local_rank = plan_.local_rank, .node = node_, .pid = pid_};
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.core = WCOREDUMP(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  end.seconds = std::chrono::duration<double>(now - started_).count();
  end_ = end;
  if (end.exit_code == 0) return;
  auto lines = errors_.tracker().LastLines();
  if (lines.empty()) lines = output_.tracker().LastLines();
  end_->last_lines.assign(lines.begin(), lines.end());
  end_->nccl_last = errors_.tracker().LastNccl();
  if (!end_->nccl_last || end_->nccl_last->find(" NCCL WARN ") == std::string::npos) {
    const auto said = output_.tracker().LastNccl();  // where NCCL writes to when nothing else is set
    if (said) end_->nccl_last = said;
  }
  end_->python_error = ReadPythonError(plan_.error_file);
  const auto kills = CountOomKills();
  if (kills && oom_kills_) end_->oom_killed = end.signal == SIGKILL && *kills > *oom_kills_;
}

void RankProcess::Signal(int number) const {
  if (running()) kill(pid_, number);
}

void RankProcess::KillAll() const {
  if (!running()) return;
  if (plan_.start.own_group) kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
}

std::string RankProcess::LastLine() const {
  const bool output_is_later = output_.last() > errors_.last();
  for (const Stream* one : {output_is_later ? &output_ : &errors_, output_is_later ? &errors_ : &output_}) {
    const auto lines = one->tracker().LastLines();
    if (!lines.empty()) return lines.back();
  }
  return "";
}

RankState RankProcess::Look(bool stack) const {
  constexpr std::chrono::milliseconds kPatience(8000);
  RankState state{
      .rank = plan_.rank, .node = node_, .pid = pid_, .state = DescribeState(pid_), .last_line = LastLine()};
  if (stack) state.stack = ReadStack(pid_, kPatience);
  return state;
}

}  // namespace nccl_tune::launcher
