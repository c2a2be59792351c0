// SPDX-License-Identifier: Apache-2.0
//
// Binds children of this process on this machine, and reads back what the kernel says of them.
#include "launcher/apply_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

namespace nccl_tune::launcher {
namespace {

using ::testing::HasSubstr;

// What `work` says in a child.
std::string InChild(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = work();
    const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  for (char one = 0; read(ends[0], &one, 1) == 1;) text += one;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

std::string FromStatus(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":\t")) return line.substr(key.size() + 2);
  }
  return "no " + key;
}

// Whether this place lets anyone choose memory; containers often do not.
bool MayPreferMemory() {
  return InChild([] { return syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0) == 0 ? "yes" : "no"; }) == "yes";
}

std::string Apply(const Placement& placement) {
  const auto applied = ApplyPlacement(placement);
  return applied.ok() ? "" : applied.error().ToString();
}

// Applies in a child: what it says, and the CPUs afterwards.
std::string CpusAfter(const std::vector<Placement>& placements) {
  return InChild([&] {
    std::string text;
    for (const Placement& one : placements) text += Apply(one);
    return text + "|" + FromStatus("Cpus_allowed_list");
  });
}

TEST(ApplyPlacementTest, ReadsWhatIsGranted) {
  const auto granted = ReadGranted();
  ASSERT_TRUE(granted.ok()) << granted.error().ToString();
  EXPECT_EQ(FormatNumbers(granted->cpus), FromStatus("Cpus_allowed_list"));
  if (!granted->memory_nodes.empty()) {
    EXPECT_EQ(FormatNumbers(granted->memory_nodes), FromStatus("Mems_allowed_list"));
  }
}

TEST(ApplyPlacementTest, LeavesAProcessAlone) {
  const auto before = FromStatus("Cpus_allowed_list");
  EXPECT_EQ(CpusAfter({Placement()}), "|" + before);
}

TEST(ApplyPlacementTest, BindsToEachCpu) {
  const auto granted = ReadGranted();
  for (const int cpu : granted->cpus) {
    Placement placement;
    placement.cpus = {cpu};
    EXPECT_EQ(CpusAfter({placement}), "|" + std::to_string(cpu));
  }
  EXPECT_EQ(FromStatus("Cpus_allowed_list"), FormatNumbers(granted->cpus));
}

TEST(ApplyPlacementTest, PrefersMemoryAndKeepsTheRest) {
  const auto granted = ReadGranted();
  if (!MayPreferMemory() || granted->memory_nodes.empty()) GTEST_SKIP() << "no memory policies here";
  Placement placement;
  placement.numa = granted->memory_nodes.front();
  EXPECT_EQ(InChild([&] {
              const std::string error = Apply(placement);
              int mode = -1;
              unsigned long nodes[16] = {};
              if (syscall(SYS_get_mempolicy, &mode, nodes, 1025, nullptr, 0) != 0) return error + "no policy";
              const bool is_right = mode == MPOL_PREFERRED && nodes[0] == 1UL << *placement.numa;
              return error + (is_right ? "preferred " : "another ") + FromStatus("Mems_allowed_list");
            }),
            "preferred " + FromStatus("Mems_allowed_list"));
}

TEST(ApplyPlacementTest, NeverWidens) {
  const auto granted = ReadGranted();
  const int narrow = granted->cpus.front();
  const int outside = granted->cpus.size() > 1 ? granted->cpus.back() : granted->cpus.back() + 1;
  Placement first;
  first.cpus = {narrow};
  Placement second;
  second.cpus = {narrow, outside};
  const std::string said = CpusAfter({first, second});
  EXPECT_EQ(said, "binding: CPUs outside this process's affinity: got \"" + std::to_string(outside) +
                      "\", expected some of " + std::to_string(narrow) + "|" + std::to_string(narrow));
}

TEST(ApplyPlacementTest, RefusesAndChangesNothing) {
  const auto granted = ReadGranted();
  const std::string before = FormatNumbers(granted->cpus);
  struct Case {
    std::vector<int> cpus;
    std::optional<int> numa;
    const char* message;
  };
  std::vector<Case> cases = {
      {{-1}, {}, "CPUs outside this process's affinity: got \"-1\""},
      {{1 << 30}, {}, "CPUs outside this process's affinity: got \"1073741824\""},
      {{granted->cpus.front(), 1 << 20}, {}, "got \"1048576\", expected some of"},
  };
  if (!granted->memory_nodes.empty()) {
    cases.push_back(
        {{granted->cpus.front()}, 1023, "memory of a NUMA node that this process may not use: got \"1023\""});
    cases.push_back({{}, -1, "memory of a NUMA node that this process may not use: got \"-1\""});
    cases.push_back({{}, 1 << 30, "expected one of"});
  }
  for (const Case& one : cases) {
    Placement placement;
    placement.cpus = one.cpus;
    placement.numa = one.numa;
    const std::string said = CpusAfter({placement});
    EXPECT_THAT(said, HasSubstr(one.message));
    EXPECT_THAT(said, HasSubstr("|" + before)) << one.message;
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
