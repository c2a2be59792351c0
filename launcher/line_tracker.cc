// SPDX-License-Identifier: Apache-2.0
#include "launcher/line_tracker.h"

#include <algorithm>
#include <utility>

namespace nccl_tune::launcher {

std::string LineTracker::Feed(std::string_view bytes) {
  Note(bytes);
  return tag_.empty() ? std::string(bytes) : Tagged(bytes);
}

void LineTracker::Note(std::string_view bytes) {
  // A carriage return ends a line too: a progress bar writes nothing else.
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    line_.append(part.substr(0, kKeptBytes - std::min(kKeptBytes, line_.size())));
    if (end == std::string_view::npos) return;
    EndLine();
    bytes.remove_prefix(end + 1);
  }
}

void LineTracker::EndLine() {
  if (line_.empty()) return;
  // "host:pid:tid [gpu] NCCL WARN text", or with the file and line of the source between. PyTorch gives what
  // ncclGetLastError returned below a line "Last error:", also where NCCL itself prints nothing.
  const bool is_error = std::exchange(error_follows_, line_.ends_with("Last error:"));
  if (line_.find(" NCCL WARN ") != std::string::npos) {
    warning_ = line_;
  } else if (is_error) {
    error_ = line_;
  } else if (line_.find(" NCCL ") != std::string::npos) {
    said_ = line_;
  }
  lines_.push_back(std::exchange(line_, {}));
  if (lines_.size() > kKeptLines) lines_.pop_front();
}

std::string LineTracker::Tagged(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      held_.append(bytes);
      if (held_.size() > kLongestTagged) out += Flush();
      break;
    }
    if (!inside_) out += tag_;
    out += std::exchange(held_, {});
    out.append(bytes.substr(0, end + 1));
    inside_ = false;
    bytes.remove_prefix(end + 1);
  }
  return out;
}

std::string LineTracker::Flush() {
  if (held_.empty()) return "";
  std::string out = inside_ ? "" : tag_;
  out += std::exchange(held_, {});
  inside_ = true;
  return out;
}

std::deque<std::string> LineTracker::LastLines() const {
  auto lines = lines_;
  if (!line_.empty()) lines.push_back(line_);
  if (lines.size() > kKeptLines) lines.pop_front();
  return lines;
}

}  // namespace nccl_tune::launcher
