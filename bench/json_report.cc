// SPDX-License-Identifier: Apache-2.0
#include "bench/json_report.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string_view>

#include "bench/iteration_stats.h"
#include "bench/json_writer.h"
#include "bench/number_text.h"
#include "bench/table.h"

namespace nccl_tune::bench {
namespace {

constexpr int kLayout = 3;
constexpr double kMicro = 1e6;  // per second

void Integer(JsonWriter& json, std::string_view key, std::integral auto number) {
  json.Key(key);
  json.Integer(number);
}

void Number(JsonWriter& json, std::string_view key, double number) {
  json.Key(key);
  json.Number(number);
}

void Text(JsonWriter& json, std::string_view key, std::string_view text) {
  json.Key(key);
  json.String(text);
}

void Quoted(JsonWriter& json, std::string_view key, bool value) {
  json.Key(key);
  json.QuotedBoolean(value);
}

void WriteDevice(JsonWriter& json, const Device& device) {
  json.BeginObject();
  Integer(json, "rank", device.rank);
  Integer(json, "group", device.group);
  Integer(json, "pid", device.process_id);
  Text(json, "hostname", device.host);
  Integer(json, "device", device.index);
  Text(json, "device_hex", AddressText(device));
  Text(json, "device_info", device.name);
  json.EndObject();
}

std::size_t DevicesPerProcess(const Options& options) {
  return static_cast<std::size_t>(std::max(options.threads, 1)) * static_cast<std::size_t>(std::max(options.gpus, 1));
}

// Every `step`th device: nccl-tests lists the first of each process, and readers count on one entry a process.
void WriteDevices(JsonWriter& json, const std::vector<Device>& devices, std::size_t step) {
  json.Key("devices");
  json.BeginList();
  for (std::size_t i = 0; i < devices.size(); i += step) WriteDevice(json, devices[i]);
  json.EndList();
}

void WriteConfig(JsonWriter& json, const Record& record) {
  const Options& options = record.options;
  json.Key("config");
  json.BeginObject();
  Integer(json, "nthreads", options.threads);
  Integer(json, "ngpus", options.gpus);
  Integer(json, "minimum_bytes", options.sweep.min_bytes);
  Integer(json, "maximum_bytes", options.sweep.max_bytes);
  if (options.sweep.factor > 1) {
    Integer(json, "step_factor", options.sweep.factor);
  } else {
    Integer(json, "step_bytes", options.sweep.step_bytes);
  }
  Integer(json, "warmup_iters", options.warmup);
  Integer(json, "iterations", options.iterations);
  Integer(json, "aggregated_iterations", options.aggregated);
  Integer(json, "validation", options.checks);
  Integer(json, "graph", options.graph_launches);
  Quoted(json, "blocking_collectives", options.blocking != Blocking::kNo);
  Quoted(json, "per_iter_timing", options.times_iterations);
  Integer(json, "per_iter_skip", options.skipped_iterations);
  Quoted(json, "parallel_init", options.parallel_init);
  WriteDevices(json, record.devices, DevicesPerProcess(options));
  json.EndObject();
}

// Microseconds.
void WriteTimes(JsonWriter& json, const std::vector<double>& seconds) {
  json.BeginList();
  for (const double time : seconds) json.Number(time * kMicro);
  json.EndList();
}

void WriteIterations(JsonWriter& json, std::string_view key, const IterationTimes& times) {
  json.Key(key);
  json.BeginObject();
  Integer(json, "skipped_iterations", times.skipped);
  Number(json, "min_us", times.least * kMicro);
  Number(json, "max_us", times.greatest * kMicro);
  Number(json, "avg_us", times.mean * kMicro);
  Number(json, "p50_us", times.p50 * kMicro);
  Number(json, "p95_us", times.p95 * kMicro);
  Number(json, "p99_us", times.p99 * kMicro);
  Number(json, "stdev_us", times.deviation * kMicro);
  Number(json, "cv_pct", VariationPercent(times));
  json.Key("times_us");
  WriteTimes(json, times.times);
  if (times.per_process.size() > 1) {
    json.Key("per_process_max_times_us");
    json.BeginList();
    for (const auto& process : times.per_process) WriteTimes(json, process);
    json.EndList();
  }
  json.EndObject();
}

// `place` is "out_of_place" or "in_place".
void WriteBlock(JsonWriter& json, const std::string& place, const Block& block, const Options& options) {
  json.Key(place);
  json.BeginObject();
  Number(json, options.reports_cpu_time ? "cpu_time" : "time", block.microseconds);
  Number(json, "alg_bw", block.algorithm_bandwidth);
  Number(json, "bus_bw", block.bus_bandwidth);
  json.Key("nwrong");
  if (block.wrong) {
    json.Number(*block.wrong);
  } else {
    json.Null();
  }
  json.EndObject();
  if (block.iterations) WriteIterations(json, place + "_per_iter", *block.iterations);
}

void WriteRow(JsonWriter& json, const Row& row, const Options& options) {
  json.BeginObject();
  Integer(json, "size", row.bytes);
  Integer(json, "count", row.count);
  Text(json, "type", row.type);
  Text(json, "redop", row.op);
  Text(json, "root", Right(std::to_string(row.root), 6));
  WriteBlock(json, "out_of_place", row.out_of_place, options);
  if (row.has_in_place) {
    WriteBlock(json, "in_place", row.in_place, options);
    const auto& spread = row.out_of_place.spread;
    Integer(json, "actual_iterations", spread ? spread->samples : static_cast<std::uint64_t>(options.iterations));
    Text(json, "experiment_name", "");
  }
  json.EndObject();
}

void WriteSummary(JsonWriter& json, const Record& record) {
  json.Key("out_of_bounds");
  json.BeginObject();
  Integer(json, "count", record.wrong);
  Quoted(json, "okay", record.wrong == 0);
  json.EndObject();
  json.Key("average_bus_bandwidth");
  json.BeginObject();
  Number(json, "bandwidth", record.average_bus_bandwidth);
  if (record.enough) {
    Quoted(json, "okay", *record.enough);
  } else {
    Text(json, "okay", "unchecked");
  }
  json.EndObject();
}

void WriteSpread(JsonWriter& json, std::string_view place, const std::optional<Spread>& spread) {
  if (!spread) return;
  json.Key(place);
  json.BeginObject();
  Integer(json, "samples", spread->samples);
  Number(json, "median_us", spread->median * kMicro);
  Number(json, "p99_us", spread->p99 * kMicro);
  Number(json, "ci95_low_us", spread->low * kMicro);
  Number(json, "ci95_high_us", spread->high * kMicro);
  json.Key("settled");
  json.Boolean(spread->settled);
  json.EndObject();
}

bool HasSpread(const Row& row) { return row.out_of_place.spread || row.in_place.spread; }

// One entry for each of "results", in the same order.
void WriteSpreads(JsonWriter& json, const std::vector<Row>& rows) {
  if (std::none_of(rows.begin(), rows.end(), HasSpread)) return;
  json.Key("spread");
  json.BeginList();
  for (const Row& row : rows) {
    json.BeginObject();
    Integer(json, "size", row.bytes);
    WriteSpread(json, "out_of_place", row.out_of_place.spread);
    if (row.has_in_place) WriteSpread(json, "in_place", row.in_place.spread);
    json.EndObject();
  }
  json.EndList();
}

bool IsComplete(const Record& record) { return !record.end_time.empty() && !record.ended_early; }

void WriteOwn(JsonWriter& json, const Record& record) {
  json.Key("nccl_bench");
  json.BeginObject();
  Text(json, "version", record.own_version);
  Text(json, "backend", record.backend);
  Text(json, "program", record.program);
  Integer(json, "nccl_headers", record.headers_code);
  Integer(json, "ranks", record.devices.size());
  json.Key("complete");
  json.Boolean(IsComplete(record));
  json.Key("verdicts");
  json.Strings(record.verdicts);
  json.Key("doubts");
  json.Strings(record.doubts);
  WriteSpreads(json, record.rows);
  if (DevicesPerProcess(record.options) > 1) WriteDevices(json, record.devices, 1);
  json.EndObject();
}

}  // namespace

std::string JsonText(const Record& record) {
  JsonWriter json;
  json.BeginObject();
  Integer(json, "version", kLayout);
  Text(json, "start_time", record.start_time);
  json.Key("args");
  json.Strings(record.arguments);
  json.Key("env");
  json.Strings(record.environment);
  Integer(json, "nccl_version", record.library_code);
  WriteConfig(json, record);
  json.Key("results");
  json.BeginList();
  for (const Row& row : record.rows) WriteRow(json, row, record.options);
  json.EndList();
  if (IsComplete(record)) WriteSummary(json, record);
  json.Key("errors");
  json.Strings(record.errors);
  if (!record.end_time.empty()) Text(json, "end_time", record.end_time);
  WriteOwn(json, record);
  json.EndObject();
  return json.Take() + "\n";
}

}  // namespace nccl_tune::bench
