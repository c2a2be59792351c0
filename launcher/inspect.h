// SPDX-License-Identifier: Apache-2.0
//
// What a running or dead process tells about itself through procfs and cgroups.
//
// Threads: any. Errors: what cannot be read is left out.
#ifndef NCCL_TUNE_LAUNCHER_INSPECT_H_
#define NCCL_TUNE_LAUNCHER_INSPECT_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nccl_tune::launcher {

// "S (sleeping), in futex_wait_queue"; with a program in between ("sh" started "python3") that of the youngest
// descendant, which is named. Empty when the process is gone. Source: proc(5), /proc/PID/stat, wchan, task/*/children.
std::string DescribeState(pid_t pid);

// The stack of a process by py-spy (of a Python program) or gdb, where one is in PATH and allowed to: at most 40 lines.
// Takes no longer than `patience`. Nothing when neither gives one.
std::vector<std::string> ReadStack(pid_t pid, std::chrono::milliseconds patience);

// The youngest descendant in the line of first children, `pid` itself when it has none.
pid_t LastDescendant(pid_t pid);

// How often the kernel has ended a process for want of memory in this process's cgroup and those above it, as far as
// this user may read that. Source: memory.events of cgroup v2, memory.oom_control of v1.
std::optional<std::uint64_t> CountOomKills();

// The value of `key` in lines "key value"; pure.
std::optional<std::uint64_t> KeyedNumber(std::string_view text, std::string_view key);

// The path of the cgroup that counts memory from /proc/self/cgroup: version 2's, or version 1's memory controller, with
// the mount point before it. Pure.
std::optional<std::string> MemoryCgroup(std::string_view text);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_INSPECT_H_
