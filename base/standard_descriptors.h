// SPDX-License-Identifier: Apache-2.0
//
// What a program does first: a process started without standard input, output or errors would give their numbers to
// the first files and sockets that it opens, and write its lines into those.
//
// Threads: call it before there are any. Errors: none; what cannot be opened stays closed.
#ifndef NCCL_TUNE_BASE_STANDARD_DESCRIPTORS_H_
#define NCCL_TUNE_BASE_STANDARD_DESCRIPTORS_H_

namespace nccl_tune::base {

// Opens /dev/null for each of the three that is closed. Whether standard output was open: without it what is printed
// is lost.
bool OpenStandardDescriptors();

}  // namespace nccl_tune::base

#endif  // NCCL_TUNE_BASE_STANDARD_DESCRIPTORS_H_
