// SPDX-License-Identifier: Apache-2.0
#include "hw/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "hw/directory_tree.h"

namespace nccl_tune::hw {
namespace {

using Clock = std::chrono::steady_clock;

base::Error Failed(const std::vector<std::string>& words, std::string what) {
  return {.code = base::Code::kUnreadable, .what = std::move(what), .where = words.empty() ? "" : words.front()};
}

// Until the other end is closed; false: not in time, or too much.
bool ReadAll(int fd, Clock::time_point end, std::string* out) {
  constexpr std::size_t kMost = 64 << 10;
  std::array<char, 4096> block;
  while (out->size() <= kMost) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&waited, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const auto got = read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    out->append(block.data(), static_cast<std::size_t>(got));
  }
  return false;
}

}  // namespace

base::Result<std::string> RunProgram(const std::vector<std::string>& words, std::chrono::milliseconds patience) {
  if (words.empty()) return Failed(words, "no program");
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Failed(words, std::generic_category().message(errno));
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // A group of its own, so that what a script has started ends with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, words[0].c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  writer = Descriptor();
  if (error != 0) {
    auto failed = Failed(words, std::generic_category().message(error));
    if (error == ENOENT) failed.code = base::Code::kNotFound;
    return failed;
  }
  std::string out;
  const bool whole = ReadAll(reader.get(), Clock::now() + patience, &out);
  if (!whole) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!whole) return Failed(words, "no whole answer in time");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return Failed(words, "it failed");
  return out;
}

}  // namespace nccl_tune::hw
