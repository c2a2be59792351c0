// SPDX-License-Identifier: Apache-2.0
#include "launcher/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace nccl_tune::launcher {
namespace {

// What a child that could not become PROGRAM tells its parent.
struct Report {
  int reason = 0;  // errno of exec; 0: `text` says what failed before
  std::array<char, 400> text{};
};

struct Pipe {
  int from = -1;
  int to = -1;
  bool Open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    from = ends[0];
    to = ends[1];
    return true;
  }
  void Close() {
    if (from >= 0) close(from);
    if (to >= 0) close(to);
    from = to = -1;
  }
};

// Returns errno. Changes `environ`: execvp looks PROGRAM up in the PATH that PROGRAM will have.
int Execute(const ProgramStart& start) {
  std::vector<std::string> arguments = start.program;
  std::vector<std::string> entries = base::ToEntries(start.environment);
  std::vector<char*> argv;
  std::vector<char*> envp;
  for (std::string& one : arguments) argv.push_back(one.data());
  for (std::string& one : entries) envp.push_back(one.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  environ = envp.data();
  execvp(argv[0], argv.data());
  const int reason = errno;
  environ = nullptr;
  return reason;
}

void Note(std::string_view text, Report* report) { text.copy(report->text.data(), report->text.size() - 1); }

// In the child. Returns only when PROGRAM could not be started.
Report RunChild(const ProgramStart& start, const SavedSignals& signals, pid_t parent, int output, int errors) {
  Report report;
  if (start.own_group) setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {  // it died before the line above
    Note("nccl-launch has ended", &report);
    return report;
  }
  if (start.no_input) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  }
  if (output >= 0) dup2(output, STDOUT_FILENO);
  if (errors >= 0) dup2(errors, STDERR_FILENO);
  if (start.prepare) {
    if (const auto prepared = start.prepare(); !prepared.ok()) {
      Note(prepared.error().ToString(), &report);
      return report;
    }
  }
  RestoreSignals(signals);
  report.reason = Execute(start);
  return report;
}

// Whether the file's first line names an interpreter that cannot be found.
bool LacksInterpreter(const std::string& path) {
  std::array<char, 256> start{};
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const ssize_t got = read(descriptor, start.data(), start.size());
  close(descriptor);
  std::string_view line(start.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  if (!line.starts_with("#!")) return false;
  line = line.substr(2, line.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string interpreter(line.substr(0, line.find_first_of(" \t")));
  return !interpreter.empty() && access(interpreter.c_str(), F_OK) != 0;
}

StartFault OwnFault(const std::string& call) {
  return {.status = 125, .text = "cannot start a process: " + call + ": " + std::strerror(errno)};
}

}  // namespace

StartFault DescribeExecError(const std::string& program, int reason) {
  if (reason == kNoInterpreter) {
    return {
        .status = 126,
        .text =
            base::Printable(program) +
            ": cannot be executed: the interpreter that its first line names is not there (or that line ends with CR)"};
  }
  const bool absent = reason == ENOENT || reason == ENOTDIR;
  return {.status = absent ? 127 : 126,
          .text = base::Printable(program) + ": " + (absent ? "not found: " : "cannot be executed: ") +
                  std::strerror(reason)};
}

// exec says "no such file" of a script's interpreter as of the script.
static int Truly(const ProgramStart& start, int reason) {
  return reason == ENOENT && CheckProgram(start.program[0], start.environment) == kNoInterpreter ? kNoInterpreter
                                                                                                 : reason;
}

StartFault BecomeProgram(const ProgramStart& start) {
  if (start.prepare) {
    if (const auto prepared = start.prepare(); !prepared.ok()) return {.text = prepared.error().ToString()};
  }
  return DescribeExecError(start.program[0], Truly(start, Execute(start)));
}

bool StartChild(const ProgramStart& start, const SavedSignals& signals, Child* child, StartFault* fault) {
  Pipe output;
  Pipe errors;
  Pipe report_pipe;
  if ((start.pipe_output && !output.Open()) || (start.pipe_errors && !errors.Open()) || !report_pipe.Open()) {
    *fault = OwnFault("pipe");
    for (Pipe* one : {&output, &errors, &report_pipe}) one->Close();
    return false;
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    const Report report = RunChild(start, signals, parent, output.to, errors.to);
    const ssize_t ignored = write(report_pipe.to, &report, sizeof report);
    _exit(ignored < 0 ? 1 : 0);
  }
  if (pid < 0) {
    *fault = OwnFault("fork");
    for (Pipe* one : {&output, &errors, &report_pipe}) one->Close();
    return false;
  }
  for (Pipe* one : {&output, &errors, &report_pipe}) close(std::exchange(one->to, -1));
  Report report;
  ssize_t got = 0;
  do {
    got = read(report_pipe.from, &report, sizeof report);  // ends when exec closes the other end
  } while (got < 0 && errno == EINTR);
  report_pipe.Close();
  if (got > 0) {
    waitpid(pid, nullptr, 0);
    *fault = report.reason != 0 ? DescribeExecError(start.program[0], Truly(start, report.reason))
                                : StartFault{.text = report.text.data()};
    output.Close();
    errors.Close();
    return false;
  }
  for (const int end : {output.from, errors.from}) {
    if (end >= 0) fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
  }
  *child = {.pid = pid, .output = output.from, .errors = errors.from};
  return true;
}

int CheckProgram(const std::string& program, const base::Environment& environment) {
  const auto check = [](const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return errno;
    if (!S_ISREG(status.st_mode)) return EACCES;
    if (access(path.c_str(), X_OK) != 0) return errno;
    return LacksInterpreter(path) ? kNoInterpreter : 0;
  };
  if (program.find('/') != std::string::npos) return check(program);
  // As execvp: what may not be executed is passed over, and named only when nothing else is found.
  const std::string path = base::Lookup(environment, "PATH").value_or("/bin:/usr/bin");
  int reason = ENOENT;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    const std::string folder = path.substr(start, end - start);
    const int found = check((folder.empty() ? "." : folder) + "/" + program);
    if (found == 0) return 0;
    if (found == EACCES || found == kNoInterpreter) reason = found;
    start = end + 1;
  }
  return reason;
}

}  // namespace nccl_tune::launcher
