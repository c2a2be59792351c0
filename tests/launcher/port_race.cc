// SPDX-License-Identifier: Apache-2.0
#include "tests/launcher/port_race.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace nccl_tune::tests {
namespace {

using base::Error;
using base::Result;

// In memory that all processes share.
struct Board {
  pthread_barrier_t barrier;
  std::atomic<std::uint32_t> listened{0};
  std::atomic<std::uint32_t> collisions{0};
  std::atomic<std::uint32_t> exhausted{0};
  std::atomic<int> other_errno{0};
};

// As a program's rank 0 does. 0 or errno.
int Listen(int descriptor, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  const int reuse = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return errno;
  return listen(descriptor, 1) == 0 ? 0 : errno;
}

void PlayRound(const Race& race, std::uint32_t process, std::uint32_t round, Board* board) {
  std::mt19937 random(round * race.processes + process);
  // Not StartPort: that sends steps of one job to different ports, and this is about those which meet.
  const auto start =
      static_cast<std::uint16_t>(race.range.first + random() % (race.range.last - race.range.first + 1U));
  pthread_barrier_wait(&board->barrier);
  const auto claim = launcher::ClaimPort(race.range, start, launcher::AtExec::kClosed, race.claimer);
  if (!claim.ok()) ++board->exhausted;
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (claim.ok()) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    const int reason = Listen(descriptor, claim->port());
    if (reason == 0) ++board->listened;
    if (reason == EADDRINUSE) ++board->collisions;
    if (reason != 0 && reason != EADDRINUSE) board->other_errno = reason;
  }
  // All hold what they have until the last one has listened.
  pthread_barrier_wait(&board->barrier);
  close(descriptor);
}

int PlayAll(const Race& race, std::uint32_t process, Board* board) {
  const uid_t user = race.users[process % 2];
  if (user != getuid() && (setgid(user) != 0 || setuid(user) != 0)) return 1;
  for (std::uint32_t round = 0; round < race.rounds; ++round) PlayRound(race, process, round, board);
  return 0;
}

Error SystemError(const char* what) {
  return Error{.code = base::Code::kUnreadable, .what = std::string(what) + ": " + std::strerror(errno)};
}

Result<Board*> MakeBoard(std::uint32_t processes) {
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return SystemError("mmap");
  auto* board = new (memory) Board;
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&board->barrier, &shared, processes);
  pthread_barrierattr_destroy(&shared);
  return board;
}

// Waits for one after the other; whoever is left waits at the barrier and is ended when one has failed.
bool AllEndWell(const std::vector<pid_t>& children) {
  bool well = true;
  for (std::size_t i = 0; i < children.size(); ++i) {
    int status = 0;
    waitpid(-1, &status, 0);
    const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (well && !ended_well) {
      for (const pid_t child : children) kill(child, SIGKILL);
    }
    well = well && ended_well;
  }
  return well;
}

}  // namespace

Result<RaceResult> RunRace(const Race& race) {
  NCCL_TUNE_ASSIGN_OR_RETURN(board, MakeBoard(race.processes));
  std::vector<pid_t> children;
  bool made_all = true;
  for (std::uint32_t process = 0; process < race.processes && made_all; ++process) {
    const pid_t child = fork();
    if (child == 0) _exit(PlayAll(race, process, board));
    made_all = child > 0;
    if (made_all) children.push_back(child);
  }
  if (!made_all) {
    for (const pid_t child : children) kill(child, SIGKILL);
  }
  const bool well = AllEndWell(children) && made_all;
  RaceResult result{.listened = board->listened, .collisions = board->collisions, .exhausted = board->exhausted};
  if (board->other_errno != 0) result.failure = std::strerror(board->other_errno);
  munmap(board, sizeof(Board));
  if (well) return result;
  return Error{.what = "a process of the race could not be made, or not as its user, or died"};
}

Result<int> ClaimNothing(std::uint16_t) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return SystemError("socket");
  return descriptor;
}

}  // namespace nccl_tune::tests
