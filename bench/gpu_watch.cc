// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <optional>
#include <utility>

#include "base/json.h"

namespace nccl_tune::bench {
namespace {

using base::Json;
using Clock = std::chrono::steady_clock;

constexpr char kAsk = '?';
constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::chrono::milliseconds kEndPatience{200};

void SendAll(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// Whether there is something to read, the end included (of a process: it has ended), before `deadline`.
bool WaitFor(int descriptor, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int got = poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (got > 0) return true;
    if (got == 0 || errno != EINTR) return false;
  }
}

// The child keeps nothing of its parent's open: a reader of our output would wait for it.
void LeaveFiles(int socket) {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) dup2(nothing, fd);
  const auto kept = static_cast<unsigned>(socket);
  if (kept > 3) close_range(3, kept - 1, 0);
  close_range(kept + 1, ~0U, 0);
}

[[noreturn]] void Serve(int socket, pid_t parent, const std::string& library) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  LeaveFiles(socket);
  const auto gpus = NvmlGpus::Open(library);
  char asked = 0;
  while (recv(socket, &asked, 1, 0) == 1) {
    SendAll(socket, WriteGpus(gpus.ok() ? gpus->Read() : base::Result<std::vector<GpuState>>(gpus.error())) + "\n");
  }
  _exit(0);
}

template <typename T>
Json Maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::optional<std::uint64_t> GetCount(const Json& json, std::string_view key) {
  const auto value = base::GetInteger(json, key);
  return value && *value >= 0 ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

std::optional<unsigned> GetClock(const Json& json, std::string_view key) {
  const auto value = GetCount(json, key);
  return value && *value < (1U << 20U) ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

GpuState ParseGpu(const Json& json) {
  GpuState out;
  const auto pci = facts::ParsePciAddress(base::GetString(json, "pci").value_or(""));
  if (pci.ok()) out.pci = *pci;
  const Json& processes = base::GetMember(json, "processes");
  for (std::size_t i = 0; processes.is_array() && i < processes.size(); ++i) {
    const auto* process = processes[i].get_ptr<const Json::number_integer_t*>();
    if (process != nullptr) out.processes.push_back(*process);
  }
  out.clock = GetClock(json, "clock");
  out.highest_clock = GetClock(json, "highest_clock");
  out.throttle_reasons = GetCount(json, "reasons").value_or(0);
  out.power_held = GetCount(json, "power_held");
  out.thermal_held = GetCount(json, "thermal_held");
  return out;
}

}  // namespace

std::string WriteGpus(const base::Result<std::vector<GpuState>>& gpus) {
  if (!gpus.ok()) return base::DumpJson(Json{{"error", gpus.error().ToString()}});
  Json list = Json::array();
  for (const GpuState& gpu : *gpus) {
    list.push_back(Json{{"pci", gpu.pci.ToString()},
                        {"processes", gpu.processes},
                        {"clock", Maybe(gpu.clock)},
                        {"highest_clock", Maybe(gpu.highest_clock)},
                        {"reasons", gpu.throttle_reasons},
                        {"power_held", Maybe(gpu.power_held)},
                        {"thermal_held", Maybe(gpu.thermal_held)}});
  }
  return base::DumpJson(Json{{"gpus", list}});
}

base::Result<std::vector<GpuState>> ParseGpus(std::string_view text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(json, base::ParseJson(text));
  const auto error = base::GetString(json, "error");
  if (error) return base::Error{.code = base::Code::kUnsupported, .what = *error};
  const Json& list = base::GetMember(json, "gpus");
  if (!list.is_array()) return base::Error{.code = base::Code::kInvalidInput, .what = "no list of GPUs"};
  std::vector<GpuState> out;
  for (const Json& gpu : list) out.push_back(ParseGpu(gpu));
  return out;
}

std::vector<GpuState> OnlyThose(const std::vector<GpuState>& gpus, const std::vector<Device>& devices) {
  if (devices.empty()) return gpus;
  std::vector<GpuState> out;
  std::copy_if(gpus.begin(), gpus.end(), std::back_inserter(out), [&](const GpuState& gpu) {
    return std::any_of(devices.begin(), devices.end(), [&](const Device& device) {
      return gpu.pci.domain == device.domain && gpu.pci.bus == device.bus && gpu.pci.device == device.slot;
    });
  });
  return out;
}

base::Result<std::unique_ptr<GpuWatch>> GpuWatch::Start(const std::string& library) {
  std::array<int, 2> sockets = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return base::Error{.code = base::Code::kUnreadable, .what = "no socket for the process that asks NVML"};
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) Serve(sockets[1], parent, library);
  close(sockets[1]);
  if (child > 0) return std::unique_ptr<GpuWatch>(new GpuWatch(child, sockets[0]));
  close(sockets[0]);
  return base::Error{.code = base::Code::kUnreadable, .what = "the process that asks NVML cannot be started"};
}

base::Error GpuWatch::GiveUp(base::Code code, std::string what) {
  if (socket_ >= 0) {
    kill(child_, SIGKILL);
    const int child = static_cast<int>(syscall(SYS_pidfd_open, child_, 0U));
    if (child >= 0) WaitFor(child, Clock::now() + kEndPatience);
    if (child >= 0) close(child);
    waitpid(child_, nullptr, WNOHANG);
    close(socket_);
    socket_ = -1;
  }
  return {.code = code, .what = std::move(what)};
}

base::Result<std::vector<GpuState>> GpuWatch::Read(std::chrono::milliseconds patience) {
  if (socket_ < 0) return base::Error{.code = base::Code::kUnreadable, .what = "NVML was given up"};
  const auto deadline = Clock::now() + patience;
  SendAll(socket_, std::string_view(&kAsk, 1));
  std::string answer;
  std::array<char, 4096> piece;
  while (!answer.ends_with('\n')) {
    if (answer.size() > kMostBytes) return GiveUp(base::Code::kUnreadable, "NVML's answer has no end");
    if (!WaitFor(socket_, deadline)) {
      return GiveUp(base::Code::kTimeout, "NVML does not answer within " + std::to_string(patience.count()) + " ms");
    }
    const ssize_t got = recv(socket_, piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return GiveUp(base::Code::kUnreadable, "the process that asked NVML has died");
    answer.append(piece.data(), static_cast<std::size_t>(got));
  }
  return ParseGpus(answer);
}

GpuWatch::~GpuWatch() { static_cast<void>(GiveUp(base::Code::kInternal, "")); }

}  // namespace nccl_tune::bench
