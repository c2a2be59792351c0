// SPDX-License-Identifier: Apache-2.0
//
// nccl-bench: measures a collective between the tasks of a step, with nccl-tests' flags and output.
#include <sched.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "base/version.h"
#include "bench/backend.h"
#include "bench/backend_choice.h"
#include "bench/backend_loader.h"
#include "bench/benchmark.h"
#include "bench/host_memory.h"
#include "bench/mpi_settings.h"
#include "bench/nccl_build.h"
#include "bench/options.h"
#include "bench/world.h"
#include "core/env/mpi_parameters.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using base::Error;
using base::Result;

constexpr int kInternal = 1;
constexpr int kInvalidUse = 6;
constexpr int kWrongData = 7;

void Note(const World& world, const std::string& text) {
  if (world.rank == 0) std::cerr << "nccl-bench: " << text << "\n" << std::flush;
}

// For what is wrong in all tasks alike: task 0 says it for all.
int RefuseOnce(const Environment& environment, const Error& error) {
  const auto slurm = base::Lookup(environment, "SLURM_PROCID");
  const auto mpirun = base::Lookup(environment, "OMPI_COMM_WORLD_RANK");
  if (mpirun.value_or(slurm.value_or("0")) == "0") std::cerr << "nccl-bench: " << error.ToString() << "\n";
  return kInvalidUse;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The folder of this program's file, links resolved: all_reduce_perf may be a link to it.
std::string OwnFolder() {
  std::error_code failed;
  const auto* const name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  const auto path = std::filesystem::canonical(name != nullptr ? name : "", failed);
  return failed ? "." : path.parent_path().string();
}

std::uint64_t UsableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<std::uint64_t>(CPU_COUNT(&cores));
}

Result<Choice> Choose(const Options& options, const std::string& folder) {
  ChoiceFacts facts{.forced = options.backend, .nccl_missing = WhyNoNcclBackend(), .gpus = options.gpus};
  const std::string path = BackendPath(folder, BackendKind::kNccl);
  std::error_code ignored;
  if (facts.nccl_missing.empty() && !std::filesystem::exists(path, ignored)) {
    facts.nccl_missing = path + " is not there";
  }
  if (options.backend != BackendKind::kMpi && facts.nccl_missing.empty()) {
    const auto devices = CountCudaDevices();
    if (devices.ok()) {
      facts.devices = *devices;
    } else {
      facts.devices_why = devices.error().ToString();
    }
  }
  return ChooseBackend(facts);
}

// Open MPI reads its settings from the environment when it starts.
void SetForMpi(const World& world, const Environment& environment) {
  MpiFacts facts{.environment = environment,
                 .parameter_files = {},
                 .ranks = world.size,
                 .local_ranks = world.local_size,
                 .usable_cores = UsableCores(),
                 .online_cores = static_cast<std::uint64_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L))};
  for (const auto& path : env::MpiParameterPaths(environment)) facts.parameter_files.push_back(ReadFile(path));
  for (const Setting& setting : ChooseMpiSettings(facts)) {
    setenv(setting.name.c_str(), setting.value.c_str(), 1);
    Note(world, "set " + setting.name + "=" + base::Printable(setting.value) + ": " + setting.why);
  }
}

// A broken run: nccl-tests' parsers look for "Test NCCL failure" and "Test failure" on stdout.
int Fail(Backend& backend, const Error& error) {
  constexpr int kCuda = 2;
  constexpr int kNccl = 3;
  const int code = backend.FailureCode();
  const std::vector<Device> devices = backend.LocalDevices();
  const std::string host = devices.empty() ? "" : devices[0].host + ": ";
  std::cerr << "nccl-bench: " << host << error.ToString() << "\n" << std::flush;
  std::cout << "\n"
            << host << "Test " << (code == kCuda ? "CUDA " : (code == kNccl ? "NCCL " : "")) << "failure "
            << error.ToString() << "\n"
            << std::flush;
  backend.Abort(code);
  return code;
}

int Measure(const Options& options, const Environment& environment) {
  const auto world = ReadWorld(environment);
  if (!world.ok()) return RefuseOnce(environment, world.error());
  const std::string folder = OwnFolder();
  const auto choice = Choose(options, folder);
  if (!choice.ok()) return RefuseOnce(environment, choice.error());
  const auto start = CheckStart(*world, choice->kind);
  if (!start.ok()) return RefuseOnce(environment, start.error());
  const bool is_mpi = choice->kind == BackendKind::kMpi;
  Note(*world, std::string("backend ") + (is_mpi ? "mpi (host memory): " : "nccl: ") + choice->reason);
  if (is_mpi) SetForMpi(*world, environment);
  auto backend = LoadBackend(BackendPath(folder, choice->kind),
                             {.environment = environment,
                              .gpus = options.gpus,
                              .local_rank = world->local_rank,
                              .local_ranks = world->local_size,
                              .host_memory = AvailableMemory(ReadFile("/proc/meminfo")).value_or(0),
                              .has_peers = world->has_pmix});
  if (!backend.ok()) {
    std::cerr << "nccl-bench: " << backend.error().ToString() << "\n";
    return kInternal;
  }
  const auto result = RunBenchmark(**backend, options, std::cout, std::cerr);
  if (!result.ok()) return Fail(**backend, result.error());
  if (const auto closed = (*backend)->Close(); !closed.ok()) return Fail(**backend, closed.error());
  return *result ? 0 : kWrongData;
}

int Main(const std::string& called, const std::vector<std::string>& arguments, const Environment& environment) {
  const auto options = ParseOptions(called, arguments, environment);
  if (!options.ok()) return RefuseOnce(environment, options.error());
  if (options->mode == Mode::kHelp) std::cout << HelpText();
  if (options->mode == Mode::kVersion) std::cout << "nccl-bench " << base::kVersion << "\n";
  const bool prints = options->mode == Mode::kHelp || options->mode == Mode::kVersion;
  const int status = prints ? 0 : Measure(*options, environment);
  std::cout.flush();
  if (!std::cout.fail() || status != 0) return status;
  // A table that nobody got is no success.
  std::cerr << "nccl-bench: cannot write to standard output: the results are lost\n";
  return kInternal;
}

}  // namespace
}  // namespace nccl_tune::bench

int main(int argc, char** argv) {
  const auto environment = nccl_tune::base::CopyEnvironment(environ);
  const std::string called = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return nccl_tune::bench::Main(called, arguments, environment);
}
