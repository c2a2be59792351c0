// SPDX-License-Identifier: Apache-2.0
//
// The name of this node as nccl-tests prints it: without the domain.
//
// Threads: any.
#ifndef NCCL_TUNE_BENCH_HOST_NAME_H_
#define NCCL_TUNE_BENCH_HOST_NAME_H_

#include <string>
#include <string_view>

namespace nccl_tune::bench {

// "localhost" when the system tells none.
std::string HostName();

// "server1" of "server1.example.org".
std::string WithoutDomain(std::string_view name);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_HOST_NAME_H_
