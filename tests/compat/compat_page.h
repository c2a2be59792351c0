// SPDX-License-Identifier: Apache-2.0
//
// nccl-bench beside nccl-tests as a page for readers: docs/nccl-tests-compat.md. Pure.
#ifndef NCCL_TUNE_TESTS_COMPAT_COMPAT_PAGE_H_
#define NCCL_TUNE_TESTS_COMPAT_COMPAT_PAGE_H_

#include <string>

#include "tests/compat/compat_rows.h"

namespace nccl_tune::compat {

std::string CompatMarkdown();

// What the mpi backend makes of a flag: "yes", "left aside: why", or what the row says.
std::string MpiCell(const FlagRow& row);

}  // namespace nccl_tune::compat

#endif  // NCCL_TUNE_TESTS_COMPAT_COMPAT_PAGE_H_
