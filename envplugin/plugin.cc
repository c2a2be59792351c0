// SPDX-License-Identifier: Apache-2.0
//
// The C edge to NCCL: every entry is one line through one guard. Decides nothing; whatever goes wrong, NCCL sees the
// process's own environment and goes on.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "core/nccl/nccl_version.h"
#include "envplugin/answers.h"
#include "envplugin/live.h"
#include "envplugin/nccl_env.h"
#include "envplugin/wish.h"

namespace nccl_tune::envplugin {
namespace {

// What one thread of the host must not notice: our errno, and a cancellation that would unwind through our handlers.
class Visit {
 public:
  Visit() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_); }
  ~Visit() {
    pthread_setcancelstate(cancel_, nullptr);
    errno = errno_;
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  const int errno_ = errno;
  int cancel_ = PTHREAD_CANCEL_ENABLE;
};

template <typename Value, typename Body>
Value Guard(Value otherwise, Body body) noexcept {
  const Visit visit;
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}

// Writing to a pipe that nobody reads, or past the limit of a file's size, must not end the process: the signals are
// held back, and taken where they were ours.
class NoWriteSignals {
 public:
  NoWriteSignals() {
    sigemptyset(&held_);
    sigset_t pending;
    if (sigpending(&pending) != 0) sigfillset(&pending);
    for (const int number : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&pending, number) == 0) sigaddset(&held_, number);
    }
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~NoWriteSignals() {
    const timespec now{};
    if (raised_) sigtimedwait(&held_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoWriteSignals(const NoWriteSignals&) = delete;
  NoWriteSignals& operator=(const NoWriteSignals&) = delete;
  void Raised() { raised_ = true; }

 private:
  sigset_t held_{};
  sigset_t before_{};
  bool raised_ = false;
};

void PrintToUser(std::string_view text) {
  NoWriteSignals signals;
  while (!text.empty()) {
    const ssize_t wrote = write(STDERR_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && (errno == EPIPE || errno == EFBIG)) signals.Raised();
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void LogToNccl(NcclLogger log, const std::string& text) {
  if (log != nullptr && !text.empty()) log(kLogInfo, kLogEnv, "nccl-tune", 0, "nccl-tune: %s", text.c_str());
}

// The one object of state. More than one libnccl may sit in a process: they share it, and it answers for the oldest.
class Plugin {
 public:
  void Init(const nccl::NcclVersion& version, NcclLogger log) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (users_++ > 0 && version_ <= version) return;
    if (users_ == 1) made_.clear();
    const bool first = users_ == 1;
    version_ = version;
    const auto environment = base::CopyEnvironment(environ);
    const auto decision = DecideHere(environment, version);
    if (!decision.ok()) return TellFailure(decision.error(), environment, log, first);
    if (first && IsFirstOnNode(environment)) PrintToUser(decision->explanation);
    LogToNccl(log, decision->warning);
    LogToNccl(log, decision->nothing.empty() ? "" : "nothing is set: " + decision->nothing);
    for (const auto& [name, value] : decision->values) LogToNccl(log, base::Printable(name + "=" + value));
    made_.push_back(std::make_unique<const Answers>(decision->values, decision->kept));
    current_.store(made_.back().get(), std::memory_order_release);
  }

  // The process's own value, else ours. Before the first init and after the last finalize only the process's.
  const char* Get(const char* name) const {
    if (name == nullptr) return nullptr;
    if (const char* theirs = std::getenv(name)) return theirs;
    const Answers* answers = current_.load(std::memory_order_acquire);
    if (answers == nullptr) return nullptr;
    return answers->Find(name, [](const std::string& asked) -> std::optional<std::string> {
      const char* value = std::getenv(asked.c_str());
      return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    });
  }

  // The texts stay until the next init: a thread of NCCL may still look at one.
  void Finalize() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (users_ > 0 && --users_ == 0) current_.store(nullptr, std::memory_order_release);
  }

 private:
  void TellFailure(const base::Error& error, const base::Environment& environment, NcclLogger log, bool first) {
    const std::string text = error.ToString() + "; NCCL's own defaults hold";
    LogToNccl(log, text);
    current_.store(nullptr, std::memory_order_release);
    if (first && ReadWish(environment).explain && IsFirstOnNode(environment)) PrintToUser("nccl-tune: " + text + "\n");
  }

  std::mutex mutex_;  // of all but current_
  int users_ = 0;
  nccl::NcclVersion version_;
  std::vector<std::unique_ptr<const Answers>> made_;
  std::atomic<const Answers*> current_{nullptr};
};

// Never destroyed: threads of NCCL outlive main. The library stays loaded for the same reason (-z nodelete).
Plugin& ThePlugin() {
  static Plugin& plugin = *new Plugin;
  return plugin;
}

int Init(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, NcclLogger log) {
  ThePlugin().Init({.major = major, .minor = minor, .patch = patch}, log);
  return kNcclSuccess;
}

}  // namespace
}  // namespace nccl_tune::envplugin

namespace {

using nccl_tune::envplugin::Guard;
using nccl_tune::envplugin::kNcclSuccess;
using nccl_tune::envplugin::NcclLogger;
using nccl_tune::envplugin::ThePlugin;

extern "C" {

int InitV1(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char*) {
  return Guard(kNcclSuccess, [&] { return nccl_tune::envplugin::Init(major, minor, patch, nullptr); });
}

int InitV2(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char*, NcclLogger log) {
  return Guard(kNcclSuccess, [&] { return nccl_tune::envplugin::Init(major, minor, patch, log); });
}

int Finalize() {
  return Guard(kNcclSuccess, [] {
    ThePlugin().Finalize();
    return kNcclSuccess;
  });
}

const char* GetEnv(const char* name) {
  return Guard<const char*>(nullptr, [&] { return ThePlugin().Get(name); });
}

}  // extern "C"

constexpr const char* kName = "nccl-tune";

}  // namespace

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): NCCL's names. It writes into neither.
extern const nccl_tune::envplugin::NcclEnvV1 ncclEnvPlugin_v1;
const nccl_tune::envplugin::NcclEnvV1 ncclEnvPlugin_v1 = {kName, InitV1, Finalize, GetEnv};

extern const nccl_tune::envplugin::NcclEnvV2 ncclEnvPlugin_v2;
const nccl_tune::envplugin::NcclEnvV2 ncclEnvPlugin_v2 = {kName, InitV2, Finalize, GetEnv};
// NOLINTEND(readability-identifier-naming)

}  // extern "C"
