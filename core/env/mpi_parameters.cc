// SPDX-License-Identifier: Apache-2.0
#include "core/env/mpi_parameters.h"

#include <algorithm>
#include <utility>

#include "base/parse_number.h"

namespace nccl_tune::env {
namespace {

bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::vector<std::string> MpiParameterPaths(const base::Environment& environment) {
  std::vector<std::string> out;
  const std::string home = base::Lookup(environment, "HOME").value_or("");
  if (home.starts_with('/')) out.push_back(home + "/.openmpi/mca-params.conf");
  out.emplace_back("/etc/openmpi/openmpi-mca-params.conf");
  return out;
}

nccl::ConfFile ParseMpiParameters(std::string path, std::string_view text) {
  nccl::ConfFile out;
  out.path = std::move(path);
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = base::Trim(line.substr(0, equals));
    if (!IsName(name)) continue;
    const std::string_view value = base::Trim(line.substr(equals + 1));
    out.settings.push_back({.name = "OMPI_MCA_" + std::string(name), .value = std::string(value), .line = number});
  }
  return out;
}

}  // namespace nccl_tune::env
