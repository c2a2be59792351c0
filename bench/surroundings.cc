// SPDX-License-Identifier: Apache-2.0
#include "bench/surroundings.h"

#include <sched.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "core/env/mpi_parameters.h"

namespace nccl_tune::bench {

using base::Environment;
using base::Error;
using base::Result;

namespace {

constexpr std::string_view kMatrixFile = "a file with a square of numbers, the same on every node";
constexpr std::string_view kMatrixHint = "Give its full path, on a file system that all nodes share.";

// No stream: those throw on a folder.
std::optional<std::string> Contents(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), file.get())) text.append(part.data(), read);
  return std::ferror(file.get()) == 0 ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace

std::string ReadFile(const std::string& path) { return Contents(path).value_or(""); }

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

Result<Traffic> ReadTraffic(const Options& options) {
  if (options.matrix_file.empty()) return options.traffic;
  std::error_code failed;
  const auto status = std::filesystem::status(options.matrix_file, failed);
  if (!std::filesystem::is_regular_file(status)) {
    return Error{.code = base::Code::kUnreadable,
                 .what = failed ? failed.message() : "is no file",
                 .where = "NCCL_TESTS_ALLTOALLV_MATRIX_FILE",
                 .seen = options.matrix_file,
                 .expected = std::string(kMatrixFile),
                 .hint = std::string(kMatrixHint)};
  }
  const auto text = Contents(options.matrix_file);
  if (!text) {
    return Error{.code = base::Code::kUnreadable,
                 .what = "cannot be read",
                 .where = "NCCL_TESTS_ALLTOALLV_MATRIX_FILE",
                 .seen = options.matrix_file,
                 .expected = std::string(kMatrixFile),
                 .hint = std::string(kMatrixHint)};
  }
  return Traffic::FromMatrix(*text, options.matrix_file, options.matrix_scale);
}

MpiFacts ReadMpiFacts(const World& world, const Environment& environment) {
  MpiFacts facts{.environment = environment,
                 .parameter_files = {},
                 .ranks = world.size,
                 .local_ranks = world.local_size,
                 .usable_cores = UsableCores(),
                 .online_cores = static_cast<std::uint64_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L))};
  for (const auto& path : env::MpiParameterPaths(environment)) facts.parameter_files.push_back(ReadFile(path));
  return facts;
}

std::vector<Setting> DebugSettings(const World& world, const Options& options, const Environment& environment) {
  if (options.debug_file.empty()) return {};
  const bool is_own_name = options.debug_file.find('%') != std::string::npos || world.size == 1;
  const std::string path = options.debug_file + (is_own_name ? "" : ".%h.%p");
  std::vector<Setting> settings;
  if (!base::Lookup(environment, "NCCL_DEBUG")) settings.push_back({.name = "NCCL_DEBUG", .value = "INFO"});
  settings.push_back({.name = "NCCL_DEBUG_FILE", .value = path, .why = "NCCL's log goes there"});
  return settings;
}

}  // namespace nccl_tune::bench
