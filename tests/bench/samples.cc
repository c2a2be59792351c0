// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/samples.h"

#include "bench/csv_report.h"
#include "bench/iteration_stats.h"
#include "bench/json_report.h"
#include "bench/results.h"
#include "bench/table.h"

namespace nccl_tune::bench {
namespace {

constexpr double kMicro = 1e-6;  // seconds

Block Numbers(double time, double bandwidth, std::optional<double> wrong) {
  return {.microseconds = time, .algorithm_bandwidth = bandwidth, .bus_bandwidth = bandwidth * 1.5, .wrong = wrong};
}

// Four ranks on two nodes; each size takes 10 us and what its bytes need at 100 GB/s, in place 1 us less.
Record Measured() {
  Record record;
  record.program = "all_reduce_perf";
  record.arguments = {"nccl-bench", "all_reduce", "-b", "8", "-e", "8M", "-f", "32"};
  record.environment = {"NCCL_IB_HCA==mlx5_1:1", "SLURM_JOB_ID=4"};
  record.own_version = "nccl-bench 0.1.0";
  record.backend = "nccl (NCCL 2.28.9, /usr/lib/x86_64-linux-gnu/libnccl.so.2)";
  record.headers_code = 22809;
  record.library_code = 22809;
  record.options.sweep = {.min_bytes = 8, .max_bytes = 8U << 20U, .factor = 32};
  record.start_time = "2026-12-01 10:00:00";
  record.end_time = "2026-12-01 10:00:09";
  for (int rank = 0; rank < 4; ++rank) {
    record.devices.push_back({.rank = static_cast<std::uint64_t>(rank),
                              .process_id = 4711 + rank,
                              .host = rank < 2 ? "server1" : "gpu-node-02",
                              .index = rank % 2,
                              .bus = rank % 2 == 0 ? 0x1bU : 0x9bU,
                              .name = "NVIDIA H200"});
  }
  for (std::uint64_t bytes = 8; bytes <= 8U << 20U; bytes *= 32) {
    const auto size = static_cast<double>(bytes);
    const double time = 10 + size / 1e5;
    record.rows.push_back({.bytes = bytes,
                           .count = bytes / 4,
                           .type = "float",
                           .op = "sum",
                           .out_of_place = Numbers(time, size / time / 1e3, 0),
                           .in_place = Numbers(time - 1, size / (time - 1) / 1e3, 0),
                           .timestamp = "2026-12-01 10:00:01"});
  }
  return record;
}

// The mean over both blocks of all rows, and the sum of wrong elements.
void Summarise(Record& record) {
  double sum = 0;
  for (const Row& row : record.rows) {
    for (const Block& block : {row.out_of_place, row.in_place}) {
      sum += block.bus_bandwidth;
      record.wrong += static_cast<std::uint64_t>(block.wrong.value_or(0));
    }
  }
  record.average_bus_bandwidth = sum / (2 * static_cast<double>(record.rows.size()));
}

std::string Stdout(Record record) {
  Summarise(record);
  std::string text = HeaderText(record);
  for (const Device& device : record.devices) text += DeviceLines({device});
  text += ColumnText(record.options);
  for (const Row& row : record.rows) {
    text += RowText(row) + BlockText(row.out_of_place) + BlockText(row.in_place) + RowEndText(row, record.options);
  }
  return text + FooterText(record) + EndText("");
}

// Two processes, the second the slower one but for its first iteration.
IterationTimes Iterations(double time) {
  const std::vector<std::vector<double>> processes = {{time * 3, time, time * 2}, {time, time * 2, time * 4}};
  return SummariseIterations(LongestPerIteration(processes), processes, 1);
}

Record WithIterations() {
  Record record = Measured();
  record.options.times_iterations = true;
  record.options.skipped_iterations = 1;
  record.options.iterations = 3;
  record.devices = {record.devices[0], record.devices[2]};
  record.devices[1].rank = 1;
  for (Row& row : record.rows) {
    row.out_of_place.iterations = Iterations(row.out_of_place.microseconds * kMicro);
    row.in_place.iterations = Iterations(row.in_place.microseconds * kMicro);
  }
  return record;
}

// Where the in-place result is not defined.
Record Alltoall() {
  Record record = Measured();
  record.program = "alltoall_perf";
  for (Row& row : record.rows) {
    row.op = "none";
    row.in_place.wrong.reset();
  }
  return record;
}

Record Unchecked() {
  Record record = Measured();
  record.options.checks = 0;
  for (Row& row : record.rows) {
    row.out_of_place.wrong.reset();
    row.in_place.wrong.reset();
  }
  return record;
}

Record Hypercube() {
  Record record = Measured();
  record.program = "hypercube_perf";
  for (Row& row : record.rows) row.op = "";
  return record;
}

Record HostMemory() {
  Record record = Measured();
  record.backend = "mpi (Open MPI 4.1.4, host memory)";
  record.headers_code = 0;
  record.library_code = 0;
  for (Device& device : record.devices) device.name = "host memory";
  return record;
}

// A slow link: times without decimals and with an exponent.
Record Slow() {
  Record record = Measured();
  for (Row& row : record.rows) {
    row.out_of_place = Numbers(123456.7, 0.01, 0);
    row.in_place = Numbers(12345678, 0.0001, 0);
  }
  return record;
}

Record Wrong() {
  Record record = Measured();
  record.rows[1].in_place.wrong = 3;
  record.enough = false;
  return record;
}

Record OtherTypes() {
  Record record = Measured();
  for (Row& row : record.rows) {
    row.type = "bfloat16";
    row.op = "avg";
  }
  return record;
}

Record Changed(void (*change)(Options&)) {
  Record record = Measured();
  change(record.options);
  return record;
}

std::string Json(Record record) {
  Summarise(record);
  return JsonText(record);
}

}  // namespace

std::vector<Sample> MakeSamples() {
  return {
      {"all_reduce.txt", Stdout(Measured())},
      {"all_reduce.json", Json(Measured())},
      {"all_reduce.csv", CsvText(Measured())},
      {"alltoall.txt", Stdout(Alltoall())},
      {"cpu_time.txt", Stdout(Changed([](Options& options) { options.reports_cpu_time = true; }))},
      {"host_memory.txt", Stdout(HostMemory())},
      {"hypercube.txt", Stdout(Hypercube())},
      {"iterations.txt", Stdout(WithIterations())},
      {"iterations.json", Json(WithIterations())},
      {"other_types.txt", Stdout(OtherTypes())},
      {"slow.txt", Stdout(Slow())},
      {"timestamps.txt", Stdout(Changed([](Options& options) { options.reports_timestamps = true; }))},
      {"unchecked.txt", Stdout(Unchecked())},
      {"wrong.txt", Stdout(Wrong())},
  };
}

}  // namespace nccl_tune::bench
