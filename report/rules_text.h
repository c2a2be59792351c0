// SPDX-License-Identifier: Apache-2.0
//
// The rules table as a page for readers: docs/rules.md.
#ifndef NCCL_TUNE_REPORT_RULES_TEXT_H_
#define NCCL_TUNE_REPORT_RULES_TEXT_H_

#include <string>

namespace nccl_tune::report {

// Markdown, lines of at most 120 columns.
std::string RulesMarkdown();

}  // namespace nccl_tune::report

#endif  // NCCL_TUNE_REPORT_RULES_TEXT_H_
