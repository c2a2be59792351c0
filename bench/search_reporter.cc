// SPDX-License-Identifier: Apache-2.0
#include "bench/search_reporter.h"

#include <utility>

#include "bench/device_text.h"
#include "bench/search_report.h"
#include "bench/table.h"

namespace nccl_tune::bench {

using base::Error;
using base::Result;
using base::Status;

SearchReporter::SearchReporter(const Outlets& outlets, Record record) : outlets_(outlets), record_(std::move(record)) {
  result_.mode = record_.options.mode;
  result_.own_version = record_.own_version;
}

void SearchReporter::Create(const std::string& name, std::optional<ResultFile>& file) {
  if (name.empty()) return;
  auto created = ResultFile::Create(name);
  if (!created.ok()) return Trouble(created.error());
  Say("writing to " + created->path());
  file = std::move(*created);
}

void SearchReporter::Open() {
  const std::lock_guard lock(mutex_);
  Create(record_.options.json_file, json_);
  Create(record_.options.csv_file, csv_);
  Save(true);
}

Result<std::vector<std::vector<Device>>> SearchReporter::Header(const Identity& identity,
                                                                const std::vector<std::string>& device_texts) {
  const std::lock_guard lock(mutex_);
  record_.backend = identity.label;
  record_.headers_code = identity.headers_code;
  record_.library_code = identity.library_code;
  result_.backend = identity.label;
  *outlets_.out << HeaderText(record_);
  std::vector<std::vector<Device>> all;
  for (const std::string& text : device_texts) {
    NCCL_TUNE_ASSIGN_OR_RETURN(devices, DevicesFromText(text));
    *outlets_.out << DeviceLines(devices);
    all.push_back(std::move(devices));
  }
  *outlets_.out << std::flush;
  return all;
}

void SearchReporter::MemoryCut(std::uint64_t max_bytes) {
  const std::lock_guard lock(mutex_);
  *outlets_.out << MemoryCutText(max_bytes) << std::flush;
}

void SearchReporter::Fill(const std::function<void(SearchResult&)>& fill) {
  const std::lock_guard lock(mutex_);
  fill(result_);
}

void SearchReporter::Note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  Say(text);
}

void SearchReporter::Say(const std::string& text) {
  ClearProgress();
  *outlets_.notes << ("nccl-bench: " + text + "\n") << std::flush;
}

void SearchReporter::Progress(std::size_t groups) {
  const std::lock_guard lock(mutex_);
  Save(false);
  if (!outlets_.progress) return;
  ClearProgress();
  const std::string line = "nccl-bench: round " + std::to_string(result_.rounds + 1) + ": " + std::to_string(groups) +
                           (groups == 1 ? " group" : " groups");
  *outlets_.notes << line << std::flush;
  progress_width_ = line.size();
}

void SearchReporter::Findings() {
  const std::lock_guard lock(mutex_);
  ClearProgress();
  *outlets_.out << SearchText(result_) << std::flush;
}

void SearchReporter::Fail(const std::string& error) {
  const std::lock_guard lock(mutex_);
  ClearProgress();
  if (!result_.error.empty()) return;
  result_.error = error;
  Save(true);
}

Status SearchReporter::Finish() {
  const std::lock_guard lock(mutex_);
  Save(true);
  return trouble_ ? Status(*trouble_) : base::Ok();
}

void SearchReporter::Save(bool now) {
  const auto time = ResultFile::Clock::now();
  if (json_ && (now || json_->IsDue(time))) {
    if (const Status saved = json_->Update(SearchJson(result_)); !saved.ok()) Trouble(saved.error());
  }
  if (csv_ && (now || csv_->IsDue(time))) {
    if (const Status saved = csv_->Update(SearchCsv(result_)); !saved.ok()) Trouble(saved.error());
  }
}

void SearchReporter::Trouble(const Error& error) {
  if (trouble_) return;
  trouble_ = error;
  Say(error.ToString());
}

void SearchReporter::ClearProgress() {
  if (progress_width_ == 0) return;
  *outlets_.notes << ("\r" + std::string(progress_width_, ' ') + "\r") << std::flush;
  progress_width_ = 0;
}

}  // namespace nccl_tune::bench
