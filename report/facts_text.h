// SPDX-License-Identifier: Apache-2.0
//
// Facts of a node for a reader: as text and as JSON.
#ifndef NCCL_TUNE_REPORT_FACTS_TEXT_H_
#define NCCL_TUNE_REPORT_FACTS_TEXT_H_

#include <string>
#include <vector>

#include "core/facts/node.h"
#include "core/facts/node_details.h"
#include "core/nccl/conf_file.h"

namespace nccl_tune::report {

// `conf_files`: those of NCCL that are there, the one that wins first.
std::string FactsText(const facts::Node& node, const facts::NodeDetails& details,
                      const std::vector<nccl::ConfFile>& conf_files);
std::string FactsJson(const facts::Node& node, const facts::NodeDetails& details,
                      const std::vector<nccl::ConfFile>& conf_files);

}  // namespace nccl_tune::report

#endif  // NCCL_TUNE_REPORT_FACTS_TEXT_H_
