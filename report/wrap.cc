// SPDX-License-Identifier: Apache-2.0
#include "report/wrap.h"

#include <algorithm>

#include "base/result.h"

namespace nccl_tune::report {

std::string Wrap(std::string_view label, std::size_t indent, std::string_view text, std::size_t width) {
  std::string out(label);
  if (!out.empty() && out.size() + 1 > indent) out += ' ';
  out.resize(std::max(indent, out.size()), ' ');
  std::size_t column = out.size();
  bool first = true;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    const std::string word = base::Printable(text.substr(0, blank));
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (word.empty()) continue;
    if (!first && column + 1 + word.size() > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    first = false;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

}  // namespace nccl_tune::report
