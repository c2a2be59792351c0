// SPDX-License-Identifier: Apache-2.0
#include "bench/search_reporter.h"

#include <utility>

#include "bench/device_text.h"
#include "bench/search_report.h"
#include "bench/table.h"

namespace nccl_tune::bench {

using base::Result;
using base::Status;

SearchReporter::SearchReporter(const Outlets& outlets, Record record) : outlets_(outlets), record_(std::move(record)) {
  result_.mode = record_.options.mode;
  result_.own_version = record_.own_version;
}

Status SearchReporter::Add(const std::string& path, const ResultOutlets::Make& make) {
  if (path.empty()) return base::Ok();
  NCCL_TUNE_ASSIGN_OR_RETURN(name, outlets_.Add(path, make));
  Say("writing to " + name);
  return base::Ok();
}

Status SearchReporter::Open() {
  const std::lock_guard lock(mutex_);
  Status opened = Add(record_.options.json_file, [this] { return SearchJson(result_); });
  if (opened.ok()) opened = Add(record_.options.csv_file, [this] { return SearchCsv(result_); });
  if (!opened.ok()) outlets_.RemoveFiles();
  return opened;
}

Result<std::vector<std::vector<Device>>> SearchReporter::Header(const Identity& identity,
                                                                const std::vector<std::string>& device_texts) {
  const std::lock_guard lock(mutex_);
  record_.backend = identity.label;
  record_.headers_code = identity.headers_code;
  record_.library_code = identity.library_code;
  result_.backend = identity.label;
  std::string header = HeaderText(record_);
  std::vector<std::vector<Device>> all;
  for (const std::string& text : device_texts) {
    NCCL_TUNE_ASSIGN_OR_RETURN(devices, DevicesFromText(text));
    header += DeviceLines(devices);
    all.push_back(std::move(devices));
  }
  outlets_.Write(header);
  return all;
}

void SearchReporter::MemoryCut(std::uint64_t max_bytes) {
  const std::lock_guard lock(mutex_);
  outlets_.Write(MemoryCutText(max_bytes));
}

void SearchReporter::Fill(const std::function<void(SearchResult&)>& fill) {
  const std::lock_guard lock(mutex_);
  fill(result_);
}

void SearchReporter::Note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  Say(text);
}

void SearchReporter::Say(const std::string& text) { outlets_.Note("nccl-bench: " + text + "\n"); }

void SearchReporter::Progress(std::size_t groups) {
  const std::lock_guard lock(mutex_);
  outlets_.SaveWhenDue();
  outlets_.Progress("nccl-bench: round " + std::to_string(result_.rounds + 1) + ": " + std::to_string(groups) +
                    (groups == 1 ? " group" : " groups"));
}

void SearchReporter::Findings() {
  const std::lock_guard lock(mutex_);
  outlets_.ClearProgress();
  outlets_.Write(SearchText(result_));
}

void SearchReporter::Doubts(const std::vector<std::string>& doubts) {
  const std::lock_guard lock(mutex_);
  result_.doubts = doubts;
  for (const std::string& doubt : doubts) Say("doubtful: " + doubt);
}

void SearchReporter::Fail(const std::string& error) {
  const std::lock_guard lock(mutex_);
  outlets_.ClearProgress();
  if (!result_.error.empty()) return;
  result_.error = error;
  outlets_.Save();
}

Status SearchReporter::Finish() {
  const std::lock_guard lock(mutex_);
  return outlets_.Finish();
}

}  // namespace nccl_tune::bench
