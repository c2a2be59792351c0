// SPDX-License-Identifier: Apache-2.0
//
// A program that ends badly, for tests of who starts it.
//   dies MODE [RANK]
// With RANK only the rank of that number (SLURM_PROCID) does it; the others wait in a read for ever, as a rank does in
// a collective whose peer is gone. Without RANK every rank does it. Each says "dies: rank N pid P: MODE" first. Knows
// nothing of a launcher but what Slurm itself sets.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr int kUsage = 64;
constexpr std::size_t kMiB = std::size_t{1} << 20;

// A read of a connection on which nothing will ever come.
[[noreturn]] void WaitForPeer() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::_Exit(kUsage);
  char byte = 0;
  for (;;) {
    if (recv(ends[0], &byte, 1, 0) == 0) std::_Exit(kUsage);
  }
}

void Segv() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
}

void Abort() {
  std::fputs("dies: an assertion that does not hold\n", stderr);
  std::abort();
}

void Exit3() { std::_Exit(3); }

void Kill() { raise(SIGKILL); }

// Out of memory as a program sees it under a limit: an allocation fails, and it gives up.
void Memory() {
  const rlimit limit{256 * kMiB, 256 * kMiB};
  setrlimit(RLIMIT_AS, &limit);
  for (;;) {
    void* block = std::malloc(16 * kMiB);
    if (block == nullptr) {
      std::fputs("dies: out of memory: malloc of 16777216 bytes failed\n", stderr);
      std::abort();
    }
    std::memset(block, 1, 16 * kMiB);
  }
}

// Out of memory as the kernel sees it: takes more and more until it is killed, at most 2 GiB.
void OomKill() {
  for (std::size_t taken = 0; taken < 2048 * kMiB; taken += 8 * kMiB) {
    void* block = std::malloc(8 * kMiB);
    if (block == nullptr) std::_Exit(kUsage);
    std::memset(block, 1, 8 * kMiB);
  }
}

void IgnoreTerm() {
  std::signal(SIGTERM, SIG_IGN);
  std::fputs("dies: ignores SIGTERM\n", stderr);
  WaitForPeer();
}

// Two children that would stay: one in this process group, one in a session of its own. Then the rank itself fails.
void Orphans() {
  for (const bool own_session : {false, true}) {
    if (fork() != 0) continue;
    if (own_session) setsid();
    std::signal(SIGHUP, SIG_IGN);
    execl("/bin/sleep", "dies-orphan", "300", nullptr);
    std::_Exit(kUsage);
  }
  std::_Exit(3);
}

// 4 MiB to each of stdout and stderr, in lines of 64 bytes, the last of them "dies: flood done" on both.
void Flood() {
  const std::string line = std::string(63, 'x') + "\n";
  for (std::size_t written = 0; written < 4 * kMiB; written += line.size()) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  std::fputs("dies: flood done\n", stdout);
  std::fputs("dies: flood done\n", stderr);
  std::fflush(stdout);
  std::_Exit(0);
}

// What NCCL says last when a peer is gone, as its debug output has it, and the exit of who checks its results.
void Nccl() {
  std::fputs(
      "server1:4242:4250 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer "
      "server2<172.16.0.12:40001>\n"
      "server1:4242:4250 [0] NCCL INFO transport/net_socket.cc:500 -> 6\n"
      "Test NCCL failure all_reduce.cu:42 'remote process exited or there was a network error / '\n",
      stderr);
  std::_Exit(1);
}

struct Mode {
  std::string_view name;
  void (*run)();
};

constexpr std::array kModes = {
    Mode{"segv", Segv},       Mode{"abort", Abort},      Mode{"exit3", Exit3},      Mode{"kill", Kill},
    Mode{"memory", Memory},   Mode{"oom-kill", OomKill}, Mode{"hang", WaitForPeer}, Mode{"ignore-term", IgnoreTerm},
    Mode{"orphans", Orphans}, Mode{"flood", Flood},      Mode{"nccl", Nccl},
};

}  // namespace

int main(int argc, char** argv) {
  const char* rank = std::getenv("SLURM_PROCID");
  const std::string_view own = rank == nullptr ? "0" : rank;
  for (const Mode& mode : kModes) {
    if (argc < 2 || argc > 3 || mode.name != argv[1]) continue;
    const bool mine = argc == 2 || own == argv[2];
    std::fprintf(stderr, "dies: rank %s pid %d: %s\n", own.data(), static_cast<int>(getpid()),
                 mine ? argv[1] : "waits");
    // No core file: a dump of each of these would only fill the node's folder.
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (mine) {
      mode.run();
      return 0;
    }
    WaitForPeer();
  }
  std::fputs("dies: expected MODE [RANK], MODE one of", stderr);
  for (const Mode& mode : kModes) std::fprintf(stderr, " %s", mode.name.data());
  std::fputs("\n", stderr);
  return kUsage;
}
