// SPDX-License-Identifier: Apache-2.0
#include "spank/mode.h"

#include <string>

namespace nccl_tune::spank {

base::Result<Mode> ParseMode(std::string_view text) {
  Mode out{.set = true, .explain = false, .mpi = false};
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
    } else {
      return base::Error{.code = base::Code::kInvalidInput,
                         .what = "unknown mode",
                         .where = "--nccl-tune",
                         .seen = std::string(item),
                         .expected = "auto, off, explain, dry-run, mpi or several of them with commas between"};
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
