// SPDX-License-Identifier: Apache-2.0
#include "report/wrap.h"

#include <algorithm>

#include "base/result.h"

namespace nccl_tune::report {
namespace {

// base::Printable cuts what is long; a value shown here must be whole.
std::string Escape(std::string_view text) {
  constexpr std::size_t kPiece = 100;
  std::string out;
  while (!text.empty()) {
    out += base::Printable(text.substr(0, kPiece));
    text.remove_prefix(std::min(kPiece, text.size()));
  }
  return out;
}

}  // namespace

std::string Wrap(std::string_view label, std::size_t indent, std::string_view text, std::size_t width) {
  std::string out = Escape(label);
  if (!out.empty() && out.size() + 1 > indent) out += ' ';
  out.resize(std::max(indent, out.size()), ' ');
  std::size_t column = out.size();
  bool first = true;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    const std::string word = Escape(text.substr(0, blank));
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (word.empty()) continue;
    // A label that reaches past its column can leave no room even for the first word.
    const std::size_t gap = first ? 0 : 1;
    if (column > indent && column + gap + word.size() > width) {
      out.erase(out.find_last_not_of(' ') + 1);
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
