// SPDX-License-Identifier: Apache-2.0
#include "bench/ending.h"

#include <algorithm>

#include "bench/number_text.h"

namespace nccl_tune::bench {

using base::Code;
using base::Error;

int StatusOf(const Error& error, int backend) {
  if (error.code == Code::kInvalidInput) return kStatusInvalidUse;
  // The backend knows of no failure of its own: the frame has refused it.
  if (error.code == Code::kUnsupported && backend == kStatusInternal) return kStatusNotImplemented;
  return backend;
}

std::string FailureText(int status, const std::string& host, const Error& error) {
  const std::string start = host.empty() ? "" : host + ": ";
  if (status == kStatusTimeout) return start + "Test timeout " + error.ToString() + "\n";
  std::string kind;
  if (status == kStatusCuda) kind = "CUDA ";
  if (status == kStatusNccl) kind = "NCCL ";
  return start + "Test " + kind + "failure " + error.ToString() + "\n";
}

std::string RelayText(const std::string& host, int process_id) {
  return " .. " + host + " pid " + std::to_string(process_id) + ": Test failure nccl-bench\n";
}

double BestBusbw(const Record& record) {
  double best = record.best_bus_bandwidth;
  for (const Row& row : record.rows) {
    best = std::max({best, row.out_of_place.bus_bandwidth, row.in_place.bus_bandwidth});
  }
  return best;
}

std::optional<std::string> MissedBusbw(const Record& record) {
  if (!record.options.least_busbw) return std::nullopt;
  const double best = BestBusbw(record);
  if (best >= *record.options.least_busbw) return std::nullopt;
  return "the best busbw is " + ShortText(best) + " GB/s, under --min-busbw " + ShortText(*record.options.least_busbw);
}

}  // namespace nccl_tune::bench
