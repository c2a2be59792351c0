// SPDX-License-Identifier: Apache-2.0
//
// Facts of a node for a reader: as text and as JSON.
#ifndef NCCL_TUNE_REPORT_FACTS_TEXT_H_
#define NCCL_TUNE_REPORT_FACTS_TEXT_H_

#include <string>

#include "core/facts/node.h"

namespace nccl_tune::report {

std::string FactsText(const facts::Node& node);
std::string FactsJson(const facts::Node& node);

}  // namespace nccl_tune::report

#endif  // NCCL_TUNE_REPORT_FACTS_TEXT_H_
