// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <utility>

#include "launcher/failure_report.h"
#include "launcher/say.h"
#include "launcher/supervising.h"

namespace nccl_tune::launcher {
// Up, or to rank 0's judgement where we are that.
void Supervisor::TellEnd(const RankEnd& end, Clock::time_point now) {
  if (plan_.is_root) {
    judge_.AddEnd(end, now);
    return;
  }
  Message message{.kind = Message::Kind::kFailed};
  message.end = end;
  if (links_.SendUp(message)) {
    told_ends_.push_back(end);
    if (!answer_until_) answer_until_ = now + kAnswerPatience;
  } else {
    judge_.AddEnd(end, now);  // alone: better said by us than by nobody
  }
}

void Supervisor::TellLost(const std::vector<std::string>& names, Clock::time_point now) {
  Message message{.kind = Message::Kind::kLost};
  message.lost = names;
  if (plan_.is_root || !links_.SendUp(message)) judge_.AddLost(names, now);
}

Supervisor::Below* Supervisor::FindBelow(const LinkEvent& event) {
  for (Below& one : below_) {
    if (one.node == event.node && one.rank == event.rank && one.role == event.role) return &one;
  }
  return nullptr;
}

void Supervisor::AddBelow(const LinkEvent& event) {
  if (FindBelow(event) != nullptr) return;
  below_.push_back({.node = event.node, .role = event.role, .rank = event.rank, .name = event.message.digest});
}

void Supervisor::TakeEvent(const LinkEvent& event, Clock::time_point now) {
  if (event.role == Role::kRing) return;
  if (event.kind == LinkEvent::Kind::kOpen && event.incoming) {
    AddBelow(event);
    if (ending_) links_.SendDown({.kind = Message::Kind::kEnd, .rank = ending_rank_, .status = *ending_});
  }
  if (event.kind == LinkEvent::Kind::kGone) TakeLoss(event, now);
  if (event.kind == LinkEvent::Kind::kFailed) {  // to the parent: what happens here is told here
    for (const RankEnd& one : told_ends_) judge_.AddEnd(one, now);
  }
  if (event.kind == LinkEvent::Kind::kMessage)
    TakeMessage(event.incoming ? FindBelow(event) : nullptr, event.message, now);
}

void Supervisor::TakeMessage(Below* from, const Message& message, Clock::time_point now) {
  if (from == nullptr) {  // from above
    if (message.kind == Message::Kind::kEnd) BeginEnding(message.status, message.rank, now);
    if (message.kind == Message::Kind::kLook) Look();
    return;
  }
  switch (message.kind) {
    case Message::Kind::kFailed:
      TellEnd(*message.end, now);
      break;
    case Message::Kind::kLost:
      TellLost(message.lost, now);
      break;
    case Message::Kind::kSilent:
    case Message::Kind::kLoud:
      from->silent = message.kind == Message::Kind::kSilent;
      break;
    case Message::Kind::kDone:
      from->done = true;
      break;
    case Message::Kind::kState:
      ++looked_;
      if (!plan_.is_root) {
        links_.SendUp(message);
      } else if (states_.size() < kMostStates) {
        states_.insert(states_.end(), message.states.begin(), message.states.end());
      }
      break;
    default:
      break;
  }
}

void Supervisor::TakeLoss(const LinkEvent& event, Clock::time_point now) {
  if (!event.incoming) {
    // Nobody is left to tell what happened, or to be told.
    if (told_done_ || ending_) return;
    orphan_until_ = now + kOrphanPatience;
    orphan_speaks_ = event.node == 0 && (plan_.node_id == 1 || plan_.rank == 1);
    return;
  }
  Below* below = FindBelow(event);
  if (below == nullptr) return;
  below->gone = true;
  if (below->done || ending_) return;
  if (event.role != Role::kLocal) {
    TellLost({below->name}, now);
    return;
  }
  TellEnd({.rank = event.rank,
           .node = plan_.node,
           .pid = event.pid,
           .signal = SIGKILL,
           .seconds = std::chrono::duration<double>(now - start_).count(),
           .last_lines = {"(the nccl-launch of this rank was killed)"}},
          now);
}

void Supervisor::WatchSilence(Clock::time_point now) {
  if (!plan_.options.no_output || ending_ || look_until_) return;
  bool silent = true;
  bool anyone = false;
  for (const auto& rank : ranks_) {
    if (!rank->running()) continue;
    anyone = true;
    silent = silent && now - rank->last_output() >= *plan_.options.no_output;
  }
  for (const Below& one : below_) {
    if (one.done || one.gone) continue;
    anyone = true;
    silent = silent && one.silent;
  }
  if (plan_.is_root) {
    if (!silent || !anyone || judge_.due()) return;
    look_until_ = now + kLookPatience;
    Look();
    return;
  }
  // Where nothing runs any more "done" comes next: told as silence, the ranks above would look hung for that moment.
  silent = silent && anyone;
  if (silent == told_silent_) return;
  told_silent_ = silent;
  links_.SendUp({.kind = silent ? Message::Kind::kSilent : Message::Kind::kLoud});
}

void Supervisor::Look() {
  constexpr std::size_t kWithStack = 4;  // of one task: each takes a second or more
  links_.SendDown({.kind = Message::Kind::kLook});
  Message message{.kind = Message::Kind::kState};
  for (const auto& rank : ranks_) {
    if (rank->running() && message.states.size() < kMostStates) {
      message.states.push_back(rank->Look(message.states.size() < kWithStack));
    }
  }
  if (plan_.is_root) {
    states_.insert(states_.end(), message.states.begin(), message.states.end());
  } else {
    links_.SendUp(message);
  }
}

void Supervisor::Judge(Clock::time_point now) {
  auto failure = judge_.Decide(now);
  if (!failure || ending_) return;
  const int status = FirstFailure::StatusOf(*failure);
  const bool by_rank = failure->first && failure->kind != FailureKind::kNodeLost;
  const std::uint32_t first = by_rank ? failure->first->rank : kNobody;
  if (outside_ && failure->kind == FailureKind::kRankEnded) {
    if (plan_.is_root) {
      Say("ended from outside by signal " + std::to_string(*outside_) + " (" + SignalName(*outside_) +
          "): scancel, a time limit, or srun");
    }
  } else {
    Report(std::move(*failure));
  }
  BeginEnding(status, first, now);
}

void Supervisor::Report(Failure failure) {
  if (plan_.report) plan_.report(std::move(failure));
}

void Supervisor::NameTheSilent() const {
  std::string names;
  for (const Below& one : below_) {
    if (one.done || one.gone) continue;
    names += (names.empty() ? "" : ", ") + (one.role == Role::kLocal ? "rank " + std::to_string(one.rank) : one.name);
  }
  if (names.empty()) return;
  Say("no word from the launcher of " + names + " after the grace period: Slurm is asked to kill the step");
  if (plan_.kill_step) plan_.kill_step();
}

}  // namespace nccl_tune::launcher
