// SPDX-License-Identifier: Apache-2.0
//
// A file of results that grows while the run goes on: the name is taken at once, then the whole text is replaced each
// time, so that at any moment the file holds one complete text, also after SIGKILL or on a full disk.
#ifndef NCCL_TUNE_BENCH_RESULT_FILE_H_
#define NCCL_TUNE_BENCH_RESULT_FILE_H_

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace nccl_tune::bench {

// Whether nccl-tests' -J writes to `path`: the suffix is "json", in any case.
bool IsJsonName(std::string_view path);

// What the errno `reason` means for a file that the user has named, with what to do about it.
base::Error FileError(int reason, const std::string& path, const std::string& what);

// Used by one thread. Nothing stays open between the calls. The file stays when the object goes.
class ResultFile {
 public:
  using Clock = std::chrono::steady_clock;

  // Makes `path`, or where that is there already `path`.0, .1, ... as nccl-tests does; nothing is ever overwritten, and
  // no link followed. Fails where the folder is missing or not writable, and on what is no regular file (a folder, a
  // device, a pipe), with what, where and why. The file is empty until the first Update.
  static base::Result<ResultFile> Create(const std::string& path);
  // One that Create has made, in another process too.
  static ResultFile Made(std::string path) {
    ResultFile file(std::move(path));
    file.has_content_ = true;
    return file;
  }

  const std::string& path() const { return path_; }  // the name that was free

  // Replaces the whole content: a temporary file beside it, brought to the disk, takes its name. On an error (full
  // disk, folder gone) the former content stays. Any name that Create takes is short enough for the temporary one.
  base::Status Update(std::string_view text);

  // Update with what `make` returns, or nothing when it is not yet due.
  base::Status UpdateIfDue(const std::function<std::string()>& make);

  // Takes the file away: it stays nowhere.
  void Remove() const;

  // Whether a second has gone by since the last Update began, and ten times as long as it took together with `make`:
  // neither a slow disk nor a long text must stretch the run.
  bool IsDue(Clock::time_point now) const;

 private:
  explicit ResultFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  bool has_content_ = false;
  bool updated_ = false;  // or tried
  Clock::time_point last_{};
  Clock::duration took_{};
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_RESULT_FILE_H_
