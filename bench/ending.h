// SPDX-License-Identifier: Apache-2.0
//
// How a run ends: nccl-tests' exit statuses and the lines its parsers look for. Pure.
#ifndef NCCL_TUNE_BENCH_ENDING_H_
#define NCCL_TUNE_BENCH_ENDING_H_

#include <optional>
#include <string>

#include "base/result.h"
#include "bench/results.h"

namespace nccl_tune::bench {

inline constexpr int kStatusInternal = 1;
inline constexpr int kStatusCuda = 2;
inline constexpr int kStatusNccl = 3;
inline constexpr int kStatusTimeout = 4;
inline constexpr int kStatusNotImplemented = 5;
inline constexpr int kStatusInvalidUse = 6;
inline constexpr int kStatusWrongNumbers = 7;  // wrong data, or less bandwidth than asked for

// Exit status for an error of a run; `backend` is Backend::FailureCode.
int StatusOf(const base::Error& error, int backend);

// What stdout says of a run that broke: parsers look for "Test NCCL failure" and "Test failure". A whole line.
std::string FailureText(int status, const std::string& host, const base::Error& error);

// nccl-tests' last line of a run whose numbers are wrong or too small (exit status 7). A whole line.
std::string RelayText(const std::string& host, int process_id);

// GB/s, the highest of all blocks.
double BestBusbw(const Record& record);

// Why --min-busbw is missed, a sentence for stderr; nothing: it is reached, or was not asked for.
std::optional<std::string> MissedBusbw(const Record& record);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_ENDING_H_
