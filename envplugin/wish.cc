// SPDX-License-Identifier: Apache-2.0
#include "envplugin/wish.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace nccl_tune::envplugin {
namespace {

constexpr std::string_view kProfile = "profile=";

// A comma that stands twice belongs to its item.
std::vector<std::string> SplitItems(std::string_view text) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') {
      out.back() += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == ',') {
      out.back() += text[i++];
    } else {
      out.emplace_back();
    }
  }
  return out;
}

// Of the Slurm plugin and of other libraries' variables, which NCCL does not ask for.
bool ConcernsOthers(std::string_view item) {
  return item == "mpi" || item == "strict" || item.starts_with("set=") || item.starts_with("unset=");
}

}  // namespace

Wish ReadWish(const base::Environment& environment) {
  Wish out;
  const auto text = base::Lookup(environment, "NCCL_TUNE");
  if (!text || text->empty()) return out;
  out.stated = true;
  const auto items = SplitItems(*text);
  for (const std::string& item : items) {
    if (item == "off" && items.size() == 1) {
      out.set = false;
    } else if (item == "explain") {
      out.explain = true;
    } else if (item == "dry-run") {
      out.explain = true;
      out.set = false;
    } else if (item.starts_with(kProfile) && item.size() > kProfile.size()) {
      out.profile = item.substr(kProfile.size());
    } else if (item != "auto" && !ConcernsOthers(item)) {
      return {.stated = true, .set = false, .explain = false, .profile = {}, .refused = item.empty() ? *text : item};
    }
  }
  return out;
}

bool IsFirstOnNode(const base::Environment& environment) {
  constexpr std::array<std::string_view, 4> kCounts = {"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                                       "LOCAL_RANK"};
  return std::all_of(kCounts.begin(), kCounts.end(), [&](std::string_view name) {
    const auto count = base::Lookup(environment, name);
    return !count || *count == "0";
  });
}

}  // namespace nccl_tune::envplugin
