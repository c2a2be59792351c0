// SPDX-License-Identifier: Apache-2.0
#include "spank/mode.h"

#include <algorithm>
#include <string>

namespace nccl_tune::spank {

namespace {

constexpr std::string_view kProfile = "profile=";

// As the site's policy allows them: so a name also travels in a line.
bool IsName(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

}  // namespace

base::Result<Mode> ParseMode(std::string_view text) {
  Mode out{.set = true, .explain = false, .mpi = false, .profile = {}};
  if (text.empty() || text == "(null)") return out;
  bool off = false;
  bool other = false;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    if (item == "off") {
      off = true;
    } else if (item == "auto") {
      other = true;
    } else if (item == "explain") {
      other = out.explain = true;
    } else if (item == "dry-run") {
      other = out.explain = true;
      out.set = false;
    } else if (item == "mpi") {
      other = out.mpi = true;
    } else if (item.starts_with(kProfile) && IsName(item.substr(kProfile.size()))) {
      other = true;
      out.profile = item.substr(kProfile.size());
    } else {
      return base::Error{
          .code = base::Code::kInvalidInput,
          .what = "unknown mode",
          .where = "--nccl-tune",
          .seen = std::string(item),
          .expected = "auto, off, explain, dry-run, mpi, profile=NAME or several of them with commas between"};
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (off && other) {
    return base::Error{.code = base::Code::kInvalidInput,
                       .what = "off together with another mode",
                       .where = "--nccl-tune",
                       .seen = std::string(text),
                       .expected = "off alone"};
  }
  return off ? Mode{} : out;
}

}  // namespace nccl_tune::spank
