// SPDX-License-Identifier: Apache-2.0
//
// Details of a node for a reader: parts of what facts_text.h renders whole.
#ifndef NCCL_TUNE_REPORT_DETAILS_TEXT_H_
#define NCCL_TUNE_REPORT_DETAILS_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/facts/node.h"
#include "core/facts/node_details.h"
#include "core/nccl/conf_file.h"

namespace nccl_tune::report {

// Sections of lines, each only when it has something to say; values begin at `column`. `node` names the devices.
std::string DetailsText(const facts::Node& node, const facts::NodeDetails& details, std::size_t column);
std::string ConfFilesText(const std::vector<nccl::ConfFile>& files, std::size_t column);

base::Json DetailsJson(const facts::NodeDetails& details);
base::Json ConfFilesJson(const std::vector<nccl::ConfFile>& files);

}  // namespace nccl_tune::report

#endif  // NCCL_TUNE_REPORT_DETAILS_TEXT_H_
