// SPDX-License-Identifier: Apache-2.0
//
// Starts PROGRAM, in this process or as a child.
//
// Threads: the process has one when these are called. Ownership: the caller closes the pipes of a Child and waits for
// it.
#ifndef NCCL_TUNE_LAUNCHER_CHILD_H_
#define NCCL_TUNE_LAUNCHER_CHILD_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "launcher/signals.h"

namespace nccl_tune::launcher {

struct ProgramStart {
  std::vector<std::string> program{};  // PROGRAM and its arguments; looked up in PATH as execvp does
  base::Environment environment{};
  std::function<base::Status()> prepare{};  // just before exec: where the rank may run
  bool pipe_output = true;                  // else it writes where we do
  bool pipe_errors = true;
  bool no_input = false;  // /dev/null instead of our standard input
  bool own_group = true;  // a process group of its own, so that what it leaves behind can be ended
};

struct Child {
  pid_t pid = -1;
  int output = -1;  // read ends, non-blocking; -1 where not piped
  int errors = -1;
};

// Why PROGRAM could not be started.
struct StartFault {
  int status = 125;  // 127: not found, 126: cannot be executed, 125: our own failure
  std::string text{};
};

// Becomes PROGRAM; returns only when that fails.
StartFault BecomeProgram(const ProgramStart& start);

// `fault` is filled when there is no child. The child is killed when this process dies.
bool StartChild(const ProgramStart& start, const SavedSignals& signals, Child* child, StartFault* fault);

// A reason of our own beside errno's: the file is a script whose first line names an interpreter that is not there.
inline constexpr int kNoInterpreter = 4095;

// 0 when execvp would find PROGRAM and may execute it now, else the errno that it would give.
int CheckProgram(const std::string& program, const base::Environment& environment);

// The words for what exec answered.
StartFault DescribeExecError(const std::string& program, int reason);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_CHILD_H_
