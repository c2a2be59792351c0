// SPDX-License-Identifier: Apache-2.0
//
// docs/ranks.md, made from the table in launcher/rank_catalog.cc. Pure.
#ifndef NCCL_TUNE_TESTS_LAUNCHER_RANKS_PAGE_H_
#define NCCL_TUNE_TESTS_LAUNCHER_RANKS_PAGE_H_

#include <string>

namespace nccl_tune::launcher {

std::string RanksMarkdown();

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_TESTS_LAUNCHER_RANKS_PAGE_H_
