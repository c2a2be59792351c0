// SPDX-License-Identifier: Apache-2.0
#include "bench/rail_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "bench/result_file.h"
#include "bench/surroundings.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using base::Status;

// In a child's environment.
constexpr std::array<const char*, 2> kFileVariables = {"NCCL_BENCH_RAIL_JSON", "NCCL_BENCH_RAIL_CSV"};

bool IsSafe(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         std::string_view("_-.").find(letter) != std::string_view::npos;
}

}  // namespace

std::string RailFileName(const std::string& file, const std::string& rail) {
  if (file.empty() || file.back() == '/') return file;
  std::string part = "." + rail;
  std::ranges::replace_if(
      part, [](char letter) { return !IsSafe(letter); }, '_');
  const std::size_t begin = file.rfind('/') + 1;  // 0 where there is none
  const std::size_t dot = file.rfind('.');
  std::string name = file;
  return name.insert(dot == std::string::npos || dot < begin ? file.size() : dot, part);
}

void TakeRailFiles(const Environment& environment, Options& options) {
  if (!base::Lookup(environment, kRailVariable)) return;
  options.json_file = base::Lookup(environment, kFileVariables[0]).value_or("");
  options.csv_file = base::Lookup(environment, kFileVariables[1]).value_or("");
  options.files_are_made = true;
}

RailFiles::RailFiles(std::string json, std::string csv, std::vector<std::string> rails)
    : wanted_({std::move(json), std::move(csv)}), rails_(std::move(rails)) {
  files_.resize(rails_.size(), std::vector<File>(wanted_.size()));
}

Status RailFiles::Try() const {
  for (const std::string& wanted : wanted_) {
    if (wanted.empty()) continue;
    for (const std::string& rail : rails_) {
      NCCL_TUNE_ASSIGN_OR_RETURN(made, ResultFile::Create(RailFileName(wanted, rail)));
      made.Remove();
    }
  }
  return base::Ok();
}

Status RailFiles::Begin(std::size_t rail, Environment& environment) {
  Status first = base::Ok();
  for (std::size_t kind = 0; kind < wanted_.size(); ++kind) {
    environment.erase(kFileVariables[kind]);
    if (wanted_[kind].empty()) continue;
    File& file = files_[rail][kind];
    if (file.path.empty()) {
      const auto made = ResultFile::Create(RailFileName(wanted_[kind], rails_[rail]));
      if (!made.ok()) {
        if (first.ok()) first = made.error();
        continue;
      }
      file.path = made->path();
    }
    file.before = ReadFile(file.path);
    environment[kFileVariables[kind]] = file.path;
  }
  return first;
}

Status RailFiles::Settle(std::size_t rail, bool counts) {
  Status first = base::Ok();
  for (File& file : files_[rail]) {
    if (!counts && !file.before.empty()) {
      const Status back = ResultFile::Made(file.path).Update(file.before);
      if (!back.ok() && first.ok()) first = back;
    }
    file.before.clear();
  }
  return first;
}

void RailFiles::RemoveEmpty(std::size_t rail) const {
  for (const File& file : files_[rail]) {
    std::error_code failed;
    if (!file.path.empty() && std::filesystem::file_size(file.path, failed) == 0) {
      ResultFile::Made(file.path).Remove();
    }
  }
}

std::string RailFiles::Names(std::size_t rail) const {
  std::string names;
  for (const File& file : files_[rail]) {
    if (!file.path.empty()) names += (names.empty() ? "" : ", ") + file.path;
  }
  return names;
}

}  // namespace nccl_tune::bench
