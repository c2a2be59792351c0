// SPDX-License-Identifier: Apache-2.0
#include "bench/reporter.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

#include "bench/csv_report.h"
#include "bench/device_text.h"
#include "bench/json_report.h"
#include "bench/table.h"

namespace nccl_tune::bench {
namespace {

using base::Result;
using base::Status;

// Local time, as nccl-tests prints it.
std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::string text(32, '\0');
  if (localtime_r(&now, &parts) == nullptr) return "";
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts));
  return text;
}

// With what a block of -I holds.
std::size_t BytesOf(const Row& row) {
  std::size_t bytes = sizeof(Row);
  for (const Block* block : {&row.out_of_place, &row.in_place}) {
    if (!block->iterations) continue;
    bytes += block->iterations->times.size() * sizeof(double);
    for (const auto& times : block->iterations->per_process) bytes += times.size() * sizeof(double);
  }
  return bytes;
}

}  // namespace

Status Reporter::Open() {
  const std::lock_guard lock(mutex_);
  record_.start_time = Now();
  const auto json = OpenJson();
  const Status csv = json.ok() ? OpenCsv() : json.error();
  if (!csv.ok()) {
    outlets_.RemoveFiles();
    return csv;
  }
  Write(*json);
  return base::Ok();
}

// The line for stdout.
Result<std::string> Reporter::OpenJson() {
  const Options& options = record_.options;
  if (options.json_file.empty()) return std::string();
  const auto path = Add(options.json_file, [this] { return JsonText(record_); });
  if (path.ok()) return options.files_are_made ? "" : WritingJsonText(*path);
  if (!options.json_may_fail) return path.error();
  outlets_.Note("nccl-bench: -J: " + path.error().ToString() + "\n");
  return SkippingJsonText(options.json_file);
}

Status Reporter::OpenCsv() {
  const Options& options = record_.options;
  if (options.csv_file.empty()) return base::Ok();
  NCCL_TUNE_ASSIGN_OR_RETURN(path, Add(options.csv_file, [this] { return CsvText(record_); }));
  if (!options.files_are_made) outlets_.Note("nccl-bench: writing CSV to " + path + "\n");
  return base::Ok();
}

Result<std::string> Reporter::Add(const std::string& path, const ResultOutlets::Make& make) {
  if (!record_.options.files_are_made) return outlets_.Add(path, make);
  outlets_.AddMade(path, make);
  return path;
}

// Nothing after a failure: its lines are the last.
void Reporter::Write(const std::string& text) {
  if (!failed_) outlets_.Write(text);
}

Status Reporter::Header(const Identity& identity, const std::vector<std::string>& device_texts) {
  const std::lock_guard lock(mutex_);
  record_.backend = identity.label;
  record_.headers_code = identity.headers_code;
  record_.library_code = identity.library_code;
  std::string header = HeaderText(record_);
  for (const std::string& text : device_texts) {
    NCCL_TUNE_ASSIGN_OR_RETURN(devices, DevicesFromText(text));
    header += DeviceLines(devices);
    std::move(devices.begin(), devices.end(), std::back_inserter(record_.devices));
  }
  Write(header);
  return base::Ok();
}

void Reporter::MemoryCut(std::uint64_t max_bytes) {
  const std::lock_guard lock(mutex_);
  Write(MemoryCutText(max_bytes));
}

void Reporter::Columns() {
  const std::lock_guard lock(mutex_);
  Write(ColumnText(record_.options));
  outlets_.Save();
}

void Reporter::Print(const std::string& line) {
  const std::lock_guard lock(mutex_);
  outlets_.ClearProgress();
  Write(line);
}

void Reporter::BeginRow(Row row) {
  const std::lock_guard lock(mutex_);
  outlets_.ClearProgress();
  Write(RowText(row));
  if (!failed_) {
    outlets_.Progress("nccl-bench: " + std::to_string(rows_) + " sizes done, now " + std::to_string(row.bytes) +
                      " bytes of " + row.type);
  }
  row_ = std::move(row);
  row_blocks_ = 0;
}

void Reporter::AddBlock(const Block& block, bool in_place) {
  const std::lock_guard lock(mutex_);
  Write(BlockText(block));
  if (!row_) return;
  (in_place ? row_->in_place : row_->out_of_place) = block;
  ++row_blocks_;
  bandwidth_ += block.bus_bandwidth;
  ++blocks_;
}

// A long run (-N) must not fill the memory, one that never ends needs no rows at its end.
std::size_t Reporter::KeptBytes() const {
  constexpr std::size_t kForFiles = 1ULL << 30U;
  constexpr std::size_t kForTheEnd = 64ULL << 20U;
  if (outlets_.has_files()) return kForFiles;
  return record_.options.cycles == 0 ? 0 : kForTheEnd;
}

void Reporter::KeepRow() {
  row_->timestamp = Now();
  ++rows_;
  if (keeps_all_ && kept_bytes_ < KeptBytes()) {
    kept_bytes_ += BytesOf(*row_);
    record_.rows.push_back(std::move(*row_));
    row_.reset();
    return;
  }
  record_.best_bus_bandwidth =
      std::max({record_.best_bus_bandwidth, row_->out_of_place.bus_bandwidth, row_->in_place.bus_bandwidth});
  row_.reset();
  if (!keeps_all_ || KeptBytes() == 0) return;
  keeps_all_ = false;
  if (!outlets_.has_files()) return;
  outlets_.Note("nccl-bench: the files hold the first " + std::to_string(record_.rows.size()) +
                " rows: as many as 1 GiB of memory takes\n");
}

// 0 when nothing was measured; nccl-tests prints "-nan" there.
double Reporter::Average() const { return blocks_ == 0 ? 0 : bandwidth_ / static_cast<double>(blocks_); }

void Reporter::EndRow() {
  const std::lock_guard lock(mutex_);
  if (!row_) return;
  outlets_.ClearProgress();
  row_->timestamp = Now();
  Write(RowEndText(*row_, record_.options));
  KeepRow();
  record_.average_bus_bandwidth = Average();
  outlets_.SaveWhenDue();
}

void Reporter::Footer(std::uint64_t wrong, const std::optional<MemoryUse>& memory, const std::string& last_error) {
  constexpr double kEnough = 0.9;  // of NCCL_TESTS_MIN_BW, as in nccl-tests
  const std::lock_guard lock(mutex_);
  record_.wrong = wrong;
  record_.average_bus_bandwidth = Average();
  if (record_.options.least_average) {
    record_.enough = record_.average_bus_bandwidth >= kEnough * *record_.options.least_average;
  }
  record_.errors.push_back(last_error);  // nccl-tests lists it, empty or not
  std::string text = FooterText(record_);
  if (memory) {
    text += MemoryText({.initialization = memory->initialization,
                        .user_allocated = memory->user_allocated,
                        .collective = memory->collective});
  }
  Write(text + EndText(last_error));
  concluded_ = true;
}

void Reporter::Note(const std::string& line) {
  const std::lock_guard lock(mutex_);
  outlets_.Note(line + "\n");
}

void Reporter::Fail(const std::string& error) {
  const std::lock_guard lock(mutex_);
  outlets_.ClearProgress();
  // Half a row is closed, so that what follows stands on a line of its own.
  if (row_) Write("\n");
  if (row_ && row_blocks_ > 0) {
    row_->has_in_place = row_blocks_ > 1;
    KeepRow();
  }
  row_.reset();
  record_.average_bus_bandwidth = Average();
  record_.errors.push_back(error);
  record_.ended_early = !concluded_;
  record_.end_time = Now();
  failed_ = true;
  outlets_.Save();
}

void Reporter::Missed(const std::string& text) {
  const std::lock_guard lock(mutex_);
  record_.errors.push_back(text);
  outlets_.Note("nccl-bench: " + text + "\n");
}

void Reporter::Verdicts(const std::vector<std::string>& verdicts, const std::vector<std::string>& doubts) {
  const std::lock_guard lock(mutex_);
  record_.verdicts = verdicts;
  record_.doubts = doubts;
  std::string text;
  for (const std::string& verdict : verdicts) text += "nccl-bench: " + verdict + "\n";
  for (const std::string& doubt : doubts) text += "nccl-bench: doubtful: " + doubt + "\n";
  outlets_.Note(text);
}

Status Reporter::Finish() {
  const std::lock_guard lock(mutex_);
  if (record_.end_time.empty()) record_.end_time = Now();
  return outlets_.Finish();
}

}  // namespace nccl_tune::bench
