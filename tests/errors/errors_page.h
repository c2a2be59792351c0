// SPDX-License-Identifier: Apache-2.0
//
// The table of known errors as a page for readers: docs/errors.md. Pure.
#ifndef NCCL_TUNE_TESTS_ERRORS_ERRORS_PAGE_H_
#define NCCL_TUNE_TESTS_ERRORS_ERRORS_PAGE_H_

#include <string>

namespace nccl_tune::errors {

// Markdown, lines of at most 120 columns but for long words.
std::string ErrorsMarkdown();

}  // namespace nccl_tune::errors

#endif  // NCCL_TUNE_TESTS_ERRORS_ERRORS_PAGE_H_
