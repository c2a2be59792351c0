// SPDX-License-Identifier: Apache-2.0
#include "spank/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "spank/deadline.h"

namespace nccl_tune::spank {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kOutputLimit = 256 << 10;
constexpr int kChildPipe = 3;

base::Error Failure(base::Code code, std::string what) { return {.code = code, .what = std::move(what)}; }

base::Error ErrnoFailure(const char* call) {
  return Failure(base::Code::kInternal, std::string(call) + ": " + std::generic_category().message(errno));
}

// Real and saved ids follow the effective ones: slurmstepd keeps root as its real id.
bool DropToEffectiveIds() {
  const gid_t gid = getegid();
  const uid_t uid = geteuid();
  return setresgid(gid, gid, gid) == 0 && setresuid(uid, uid, uid) == 0;
}

// This is a copy of slurmstepd: whatever happens, it must not go on as one.
[[noreturn]] void BeChild(int pipe_end, const std::function<std::string()>& work) noexcept try {
  ResetSignals();
  BeUnreadable();
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  // The pipe may lie on any number; it ends on 3, and nothing else stays open.
  if (pipe_end != kChildPipe) dup2(pipe_end, kChildPipe);
  CloseFrom(kChildPipe + 1);
  if (!DropToEffectiveIds()) _exit(1);
  const std::string text = work();
  for (std::size_t done = 0; done < text.size();) {
    const auto wrote = write(kChildPipe, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) _exit(1);
    done += static_cast<std::size_t>(wrote);
  }
  _exit(0);
} catch (...) {
  _exit(1);
}

// Everything until the pipe's other end is closed.
base::Result<std::string> ReadAll(int fd, Clock::time_point end) {
  std::string out;
  std::array<char, 4096> block;
  while (true) {
    pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&waited, 1, Remaining(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return ErrnoFailure("poll");
    if (ready == 0) return Failure(base::Code::kTimeout, "no answer in time");
    const auto got = read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoFailure("read");
    if (got == 0) return out;
    out.append(block.data(), static_cast<std::size_t>(got));
    if (out.size() > kOutputLimit) return Failure(base::Code::kInternal, "too long an answer");
  }
}

// Reaps a child that is about to end. poll with no descriptor is the wait: no signal of the host's may be used here.
bool Reap(pid_t pid, milliseconds patience, int* status) {
  const auto end = Clock::now() + patience;
  while (true) {
    const pid_t got = waitpid(pid, status, WNOHANG);
    if (got == pid) return true;
    if (got < 0 && errno != EINTR) return false;
    if (Remaining(end) == 0) return false;
    poll(nullptr, 0, 1);
  }
}

}  // namespace

void CloseFrom(int first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  const auto limit = static_cast<int>(std::min<long>(sysconf(_SC_OPEN_MAX), 65536));  // before Linux 5.9
  for (int fd = first; fd < limit; ++fd) close(fd);
}

void BeUnreadable() { prctl(PR_SET_DUMPABLE, 0); }

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

base::Result<std::string> RunInChild(const std::function<std::string()>& work, milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  std::array<int, 2> pipe_ends;
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return ErrnoFailure("pipe");
  const pid_t pid = fork();
  if (pid == 0) BeChild(pipe_ends[1], work);
  close(pipe_ends[1]);
  if (pid < 0) {
    close(pipe_ends[0]);
    return ErrnoFailure("fork");
  }
  auto text = ReadAll(pipe_ends[0], end);
  close(pipe_ends[0]);
  if (!text.ok()) kill(pid, SIGKILL);
  int status = 0;
  const bool reaped = Reap(pid, milliseconds(100), &status);
  if (!text.ok()) return text.error();
  if (!reaped || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Failure(base::Code::kInternal, reaped && WIFSIGNALED(status) ? "the detecting process died of signal " +
                                                                              std::to_string(WTERMSIG(status))
                                                                        : "the detecting process failed");
  }
  return text;
}

}  // namespace nccl_tune::spank
