// SPDX-License-Identifier: Apache-2.0
#include "bench/result_outlets.h"

namespace nccl_tune::bench {

using base::Error;
using base::Result;
using base::Status;

Result<std::string> ResultOutlets::Add(const std::string& path, Make make) {
  NCCL_TUNE_ASSIGN_OR_RETURN(file, ResultFile::Create(path));
  if (const Status saved = file.Update(make()); !saved.ok()) {
    file.Remove();
    return saved.error();
  }
  files_.push_back({.file = std::move(file), .make = std::move(make)});
  return files_.back().file.path();
}

void ResultOutlets::AddMade(const std::string& path, Make make) {
  files_.push_back({.file = ResultFile::Made(path), .make = std::move(make)});
  Save(files_.back());
}

void ResultOutlets::RemoveFiles() {
  for (const File& one : files_) one.file.Remove();
  files_.clear();
}

void ResultOutlets::Save() {
  for (File& one : files_) Save(one);
}

void ResultOutlets::Save(File& file) {
  const Status saved = file.file.Update(file.make());
  if (!saved.ok()) return Trouble(file, saved.error());
  file.trouble.reset();
}

void ResultOutlets::SaveWhenDue() {
  for (File& one : files_) {
    // Success says nothing of a file that was not yet due.
    if (const Status saved = one.file.UpdateIfDue(one.make); !saved.ok()) Trouble(one, saved.error());
  }
}

Status ResultOutlets::Finish() {
  ClearProgress();
  Save();
  for (const File& one : files_) {
    if (one.trouble) return *one.trouble;
  }
  return base::Ok();
}

void ResultOutlets::Trouble(File& file, const Error& error) {
  if (file.trouble) return;
  file.trouble = error;
  Note("nccl-bench: " + error.ToString() + "\n");
}

void ResultOutlets::Write(const std::string& text) { *outlets_.out << text << std::flush; }

void ResultOutlets::Note(const std::string& lines) {
  ClearProgress();
  *outlets_.notes << lines << std::flush;
}

void ResultOutlets::Progress(const std::string& line) {
  ClearProgress();
  if (!outlets_.progress) return;
  *outlets_.notes << line << std::flush;
  progress_width_ = line.size();
}

void ResultOutlets::ClearProgress() {
  if (progress_width_ == 0) return;
  *outlets_.notes << ("\r" + std::string(progress_width_, ' ') + "\r") << std::flush;
  progress_width_ = 0;
}

}  // namespace nccl_tune::bench
