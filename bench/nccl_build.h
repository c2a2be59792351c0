// SPDX-License-Identifier: Apache-2.0
//
// Whether this build has an NCCL backend. The source is written by the build, from what it found.
#ifndef NCCL_TUNE_BENCH_NCCL_BUILD_H_
#define NCCL_TUNE_BENCH_NCCL_BUILD_H_

#include <string>

namespace nccl_tune::bench {

// Empty when it has; else why not.
std::string WhyNoNcclBackend();

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_BUILD_H_
