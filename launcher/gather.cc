// SPDX-License-Identifier: Apache-2.0
#include "launcher/gather.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "launcher/node_entry.h"
#include "launcher/tree.h"

namespace nccl_tune::launcher {
namespace {

using std::chrono::milliseconds;

// Polls once, until something happens or `until`.
std::vector<LinkEvent> PollOnce(Links* links, Clock::time_point until) {
  std::vector<pollfd> polls;
  links->AppendPolls(&polls);
  const auto wake = std::min(until, links->NextDeadline().value_or(until));
  const auto left = std::chrono::ceil<milliseconds>(wake - Clock::now()).count();
  if (poll(polls.data(), polls.size(), static_cast<int>(std::max<std::int64_t>(0, left))) < 0) {
    for (pollfd& one : polls) one.revents = 0;
  }
  return links->Advance(polls, Clock::now());
}

class Gatherer {
 public:
  Gatherer(const GatherPlan& plan, Links* links) : plan_(plan), links_(links) {
    for (const std::uint32_t rank : plan.local_ranks) local_.insert(rank);
    for (const std::uint32_t child : ChildrenOf(plan.node, plan.node_count)) children_.insert(child);
    if (NextInRing(plan.node, plan.node_count)) open_ += 2;  // the ring, both ways
    if (ParentOf(plan.node)) ++open_;
  }

  Message Run() {
    const auto until = Clock::now() + GatherLimit(plan_);
    while (!(local_.empty() && children_.empty() && open_ == 0) && Clock::now() < until) Wait(until);
    NoteWhoIsMissing();
    if (links_->SendUp(found_)) links_->Drain(milliseconds(200));
    return std::move(found_);
  }

 private:
  void Wait(Clock::time_point until) {
    for (const LinkEvent& event : PollOnce(links_, until)) Take(event);
  }

  void Take(const LinkEvent& event) {
    if (event.kind == LinkEvent::Kind::kFailed) {
      --open_;
      Message failed;
      failed.problems.push_back(
          {.from = plan_.name, .to = std::to_string(event.node), .address = event.address, .reason = event.reason});
      AddProblems(failed, &found_);
    } else if (event.kind == LinkEvent::Kind::kOpen && event.role == Role::kLocal && event.incoming) {
      local_.erase(event.rank);
      bool grave = false;
      std::string how = FindOddSettings(plan_.digest, event.message.digest, &grave);
      if (how.empty()) return;
      Message odd;
      // `to` says whether the run must not go on with it.
      odd.problems.push_back({.kind = Problem::Kind::kOdd,
                              .from = plan_.name,
                              .to = grave ? "grave" : "",
                              .reason = std::move(how),
                              .rank = event.rank});
      AddProblems(odd, &found_);
    } else if (event.kind == LinkEvent::Kind::kOpen && (event.role == Role::kRing || !event.incoming)) {
      --open_;
    } else if (event.kind == LinkEvent::Kind::kMessage && event.message.kind == Message::Kind::kReady) {
      if (children_.erase(event.node) > 0) AddProblems(event.message, &found_);
    }
  }

  void NoteWhoIsMissing() {
    Message missing;
    for (const std::uint32_t rank : local_) {
      missing.problems.push_back({.kind = Problem::Kind::kMissing, .from = plan_.name, .rank = rank});
    }
    for (const std::uint32_t child : children_) missing.problems.push_back({.to = plan_.name, .rank = child});
    AddProblems(missing, &found_);
  }

  const GatherPlan& plan_;
  Links* links_;
  std::set<std::uint32_t> local_{};     // not here yet
  std::set<std::uint32_t> children_{};  // have not told yet
  int open_ = 0;                        // connections that are neither open nor failed yet
  Message found_{.kind = Message::Kind::kReady};
};

}  // namespace

milliseconds ConnectLimit(const GatherPlan& plan) { return plan.limit * 4 / 10; }

milliseconds GatherLimit(const GatherPlan& plan) {
  constexpr std::uint32_t kDeepest = 5;  // 16^5 nodes
  return plan.limit * (4 + std::min(HeightOf(plan.node, plan.node_count), kDeepest)) / 10 + milliseconds(50);
}

void AwaitParent(Links* links) {
  constexpr std::chrono::seconds kLongest(60);  // the connection's own deadline is nearer
  while (links->AwaitsParent()) static_cast<void>(PollOnce(links, Clock::now() + kLongest));
}

Message Gather(const GatherPlan& plan, Links* links) { return Gatherer(plan, links).Run(); }

}  // namespace nccl_tune::launcher
