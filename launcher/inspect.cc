// SPDX-License-Identifier: Apache-2.0
#include "launcher/inspect.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/parse_number.h"
#include "hw/run_program.h"

namespace nccl_tune::launcher {
namespace {

constexpr std::size_t kMostLines = 40;

// Files of procfs and cgroupfs: read whole, at most 64 KiB.
std::string ReadFile(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "";
  std::string text(std::size_t{64} << 10U, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(descriptor, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  close(descriptor);
  text.resize(size);
  return text;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

std::string ProcPath(pid_t pid, const char* file) { return "/proc/" + std::to_string(pid) + "/" + file; }

std::string StateWord(char letter) {
  constexpr std::array<std::pair<char, const char*>, 7> kWords = {{{'R', "running"},
                                                                   {'S', "sleeping"},
                                                                   {'D', "waiting for a device"},
                                                                   {'T', "stopped"},
                                                                   {'t', "stopped by a debugger"},
                                                                   {'Z', "ended"},
                                                                   {'I', "idle"}}};
  for (const auto& [known, word] : kWords) {
    if (known == letter) return std::string(1, letter) + " (" + word + ")";
  }
  return std::string(1, letter);
}

std::vector<std::string> Kept(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : Lines(text)) {
    if (line.empty()) continue;
    if (lines.size() == kMostLines) {
      lines.emplace_back("...");
      break;
    }
    constexpr std::size_t kMostBytes = 200;
    lines.emplace_back(line.substr(0, kMostBytes));
  }
  return lines;
}

}  // namespace

pid_t LastDescendant(pid_t pid) {
  constexpr int kDeepest = 16;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const std::string id = std::to_string(pid);
    const std::string children = ReadFile("/proc/" + id + "/task/" + id + "/children");
    const auto child = base::ParseInteger<pid_t>(children.substr(0, children.find(' ')));
    if (!child.ok()) break;
    pid = *child;
  }
  return pid;
}

std::string DescribeState(pid_t pid) {
  const pid_t last = LastDescendant(pid);
  const std::string stat = ReadFile(ProcPath(last, "stat"));
  // "pid (name) S ...", and the name may hold anything.
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= stat.size()) return "";
  std::string text = StateWord(stat[close + 2]);
  const std::string waits = ReadFile(ProcPath(last, "wchan"));
  if (!waits.empty() && waits != "0") text += ", in " + waits;
  if (last != pid) text += ", " + stat.substr(open + 1, close - open - 1) + " with pid " + std::to_string(last);
  return text;
}

std::vector<std::string> ReadStack(pid_t pid, std::chrono::milliseconds patience) {
  const std::string id = std::to_string(LastDescendant(pid));
  const auto started = std::chrono::steady_clock::now();
  if (const auto python = hw::RunProgram({"py-spy", "dump", "--pid", id}, patience / 2); python.ok())
    return Kept(*python);
  const auto left =
      patience - std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started);
  // The main thread first.
  const auto native = hw::RunProgram({"gdb", "-nx", "-batch", "-p", id, "-ex", "set debuginfod enabled off", "-ex",
                                      "thread apply all -ascending bt 12"},
                                     left);
  // It ends with 0 also when it was not allowed to look.
  if (!native.ok() || native->find("#0") == std::string::npos) return {};
  return Kept(native->substr(native->find("\nThread") == std::string::npos ? 0 : native->find("\nThread")));
}

std::optional<std::uint64_t> KeyedNumber(std::string_view text, std::string_view key) {
  for (const std::string_view line : Lines(text)) {
    if (line.size() <= key.size() || !line.starts_with(key) || line[key.size()] != ' ') continue;
    const auto number = base::ParseInteger<std::uint64_t>(line.substr(key.size() + 1));
    if (number.ok()) return *number;
  }
  return std::nullopt;
}

std::optional<std::string> MemoryCgroup(std::string_view text) {
  std::optional<std::string> unified;
  for (const std::string_view line : Lines(text)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) continue;
    const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const std::string path(line.substr(second + 1));
    if (path.empty() || path.front() != '/' || path.find("/..") != std::string::npos) continue;
    if (controllers.find(",memory,") != std::string::npos) return "/sys/fs/cgroup/memory" + path;
    if (controllers == ",,") unified = "/sys/fs/cgroup" + path;
  }
  return unified;
}

std::optional<std::uint64_t> CountOomKills() {
  auto folder = MemoryCgroup(ReadFile("/proc/self/cgroup"));
  if (!folder) return std::nullopt;
  std::optional<std::uint64_t> sum;
  // The limit may lie on the task, the step or the job.
  for (int level = 0; level < 4 && folder->size() > std::string_view("/sys/fs/cgroup").size(); ++level) {
    auto count = KeyedNumber(ReadFile(*folder + "/memory.events"), "oom_kill");
    if (!count) count = KeyedNumber(ReadFile(*folder + "/memory.oom_control"), "oom_kill");
    if (count) sum = sum.value_or(0) + *count;
    folder->resize(folder->rfind('/'));
  }
  return sum;
}

}  // namespace nccl_tune::launcher
