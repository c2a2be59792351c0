// SPDX-License-Identifier: Apache-2.0
//
// What a rank writes, line by line: its last lines for the failure report, what NCCL said last, and, where asked for, a
// tag before each line. Bytes go through unchanged without a tag. Pure.
#ifndef NCCL_TUNE_LAUNCHER_LINE_TRACKER_H_
#define NCCL_TUNE_LAUNCHER_LINE_TRACKER_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace nccl_tune::launcher {

class LineTracker {
 public:
  static constexpr std::size_t kKeptLines = 20;
  static constexpr std::size_t kKeptBytes = 400;            // of each line
  static constexpr std::size_t kLongestTagged = 8U << 10U;  // a line without an end is passed on then

  // `tag` is put before each line; empty: none.
  explicit LineTracker(std::string tag = "") : tag_(std::move(tag)) {}

  // Takes what the rank wrote; the result is what to write on. With a tag an unfinished line is held back.
  std::string Feed(std::string_view bytes);
  // What was held back: at the end, or when nothing more came for a moment.
  std::string Flush();
  bool holding() const { return !held_.empty(); }

  // The last ones, the unfinished one too. Without empty ones.
  std::deque<std::string> LastLines() const;
  // NCCL's last warning, else the error that PyTorch had from it, else its last line of another kind.
  std::optional<std::string> LastNccl() const { return warning_ ? warning_ : error_ ? error_ : said_; }

 private:
  void Note(std::string_view bytes);
  void EndLine();
  std::string Tagged(std::string_view bytes);

  std::string tag_;
  std::string held_;     // tagged: what waits for its line's end
  bool inside_ = false;  // tagged: a part of this line was passed on already
  std::string line_;     // the unfinished line, at most kKeptBytes
  std::deque<std::string> lines_;
  std::optional<std::string> warning_;
  bool error_follows_ = false;
  std::optional<std::string> error_;
  std::optional<std::string> said_;
};

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_LINE_TRACKER_H_
