// SPDX-License-Identifier: Apache-2.0
//
// Slurm's commands and daemons with the sanitizers' libraries in them, for `tools/test --long=asan`. Stands ahead of
// the real program in PATH, under its name.
//
// A task must not get the libraries, and srun passes its environment on: a command is started by the dynamic loader,
// whose
// --preload is no variable. slurmd hands its environment to slurmstepd, which gives its tasks another: there
// LD_PRELOAD.
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

#define FOLDER "/run/cluster/bin/"
// The options come first, as the runtime has a definition of its own of what they define.
constexpr const char* kLibraries = FOLDER "options.so:" FOLDER "runtime.so";

// The dynamic loader of this very program.
std::string Loader() {
  Dl_info info{};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel hands addresses on as numbers
  const auto* base = reinterpret_cast<const void*>(getauxval(AT_BASE));
  return dladdr(base, &info) != 0 ? info.dli_fname : "";
}

}  // namespace

int main(int, char** argv) {
  const char* slash = std::strrchr(argv[0], '/');
  const std::string name = slash == nullptr ? argv[0] : slash + 1;
  const bool daemon = name == "slurmd";
  std::string program = (daemon ? "/usr/sbin/" : "/usr/bin/") + name;
  if (daemon) {
    setenv("LD_PRELOAD", kLibraries, 1);
    execv(program.c_str(), argv);
    std::fprintf(stderr, "%s: %s\n", program.c_str(), std::strerror(errno));
    return 127;
  }
  std::string loader = Loader();
  std::vector<std::string> words = {loader, "--preload", kLibraries, "--argv0", argv[0], program};
  std::vector<char*> line;
  for (auto& word : words) line.push_back(word.data());
  for (char** rest = argv + 1; *rest != nullptr; ++rest) line.push_back(*rest);
  line.push_back(nullptr);
  execv(loader.c_str(), line.data());
  std::fprintf(stderr, "%s: %s: %s\n", program.c_str(), loader.c_str(), std::strerror(errno));
  return 127;
}
