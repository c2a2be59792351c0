// SPDX-License-Identifier: Apache-2.0
//
// The parts of launcher/supervisor.h, for its two sources: the loop with the ranks (supervisor.cc), and the news
// between the tasks with what follows from them (supervisor_news.cc).
#ifndef NCCL_TUNE_LAUNCHER_SUPERVISING_H_
#define NCCL_TUNE_LAUNCHER_SUPERVISING_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/first_failure.h"
#include "launcher/supervisor.h"

namespace nccl_tune::launcher {

inline constexpr int kTimedOut = 124;
inline constexpr int kKilled = 137;
// How long a failed rank's supervisor waits for rank 0's word. Longer than FirstFailure::kSettle.
inline constexpr std::chrono::milliseconds kAnswerPatience(2000);
// How long rank 0's supervisor waits for what the ranks are doing.
inline constexpr std::chrono::milliseconds kLookPatience(12'000);
// How long those below may take to connect when nothing waited for them before the start.
inline constexpr std::chrono::milliseconds kConnectPatience(15'000);
// After the grace period, for those below to say that they are done: a launcher that is stopped never will.
inline constexpr std::chrono::milliseconds kGiveUpPatience(5000);
// After the loss of the parent: when Slurm ends the step all at once, nobody has to say anything.
inline constexpr std::chrono::milliseconds kOrphanPatience(1000);

class Supervisor {
 public:
  Supervisor(Supervision supervision, Links links, const SavedSignals& signals, Clock::time_point start)
      : plan_(std::move(supervision)), links_(std::move(links)), signals_(signals), start_(start) {}

  Outcome Run();

 private:
  struct Below {
    std::uint32_t node = 0;
    Role role = Role::kTree;
    std::uint32_t rank = 0;
    std::string name{};  // of its node
    bool done = false;
    bool gone = false;
    bool silent = false;
  };

  void AddBelow(const LinkEvent& event);
  void OpenSignals();
  void StartRanks();
  void Wait();
  Clock::time_point NextWake(Clock::time_point now) const;
  void TakeSignals();
  void TakeChildren(Clock::time_point now);
  void TakeEvent(const LinkEvent& event, Clock::time_point now);
  void TakeMessage(Below* from, const Message& message, Clock::time_point now);
  void TakeLoss(const LinkEvent& event, Clock::time_point now);
  Below* FindBelow(const LinkEvent& event);
  void TellEnd(const RankEnd& end, Clock::time_point now);
  void TellLost(const std::vector<std::string>& names, Clock::time_point now);
  void WatchClock(Clock::time_point now);
  void WatchSilence(Clock::time_point now);
  void Judge(Clock::time_point now);
  void Report(Failure failure);
  void Look();
  void BeginEnding(int status, std::uint32_t first, Clock::time_point now);
  bool Finished(Clock::time_point now) const;
  bool AllRanks(bool (RankProcess::*is)() const) const;
  void NameTheSilent() const;
  Outcome Conclude() const;

  Supervision plan_;
  Links links_;
  const SavedSignals& signals_;
  Clock::time_point start_;
  int signal_descriptor_ = -1;
  std::size_t signal_poll_ = 0;
  std::vector<std::unique_ptr<RankProcess>> ranks_{};
  std::vector<Below> below_{};
  FirstFailure judge_{};
  std::uint32_t ending_rank_ = kNobody;  // the one that failed first of all
  std::optional<int> ending_{};          // the status that the run ends with
  std::optional<int> outside_{};         // a signal from outside that ends a run
  std::optional<Clock::time_point> kill_at_{};
  std::optional<Clock::time_point> answer_until_{};  // a failed rank's supervisor waits for rank 0's word
  std::optional<std::size_t> first_end_{};           // of our own ranks: index of the one that failed first
  std::vector<RankEnd> told_ends_{};                 // to the parent
  bool told_silent_ = false;
  bool told_done_ = false;
  std::optional<Clock::time_point> give_up_at_{};
  std::optional<Clock::time_point> orphan_until_{};
  bool orphan_speaks_ = false;
  std::optional<Clock::time_point> look_until_{};
  std::size_t looked_ = 0;  // tasks that have answered
  std::vector<RankState> states_{};
};

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_SUPERVISING_H_
