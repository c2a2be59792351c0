// SPDX-License-Identifier: Apache-2.0
//
// The file of --json and -J: nccl-tests' layout version 3, and one member of our own behind it. Pure.
#ifndef NCCL_TUNE_BENCH_JSON_REPORT_H_
#define NCCL_TUNE_BENCH_JSON_REPORT_H_

#include <string>

#include "bench/results.h"

namespace nccl_tune::bench {

// Valid JSON on one line, whatever `record` holds and however far the run has come: what is not known yet is absent.
// Programs written for nccl-tests' file find the members that they know in nccl-tests' order; "nccl_bench" comes last
// (docs/formats.md). Its environment is `record.environment`, which the caller has cut to what may be shown.
std::string JsonText(const Record& record);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_JSON_REPORT_H_
