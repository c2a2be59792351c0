// SPDX-License-Identifier: Apache-2.0
//
// The text of configuration files whose places are known (core/nccl/conf_file.h finds them). Reads no more than that.
#ifndef NCCL_TUNE_HW_READ_CONF_TEXTS_H_
#define NCCL_TUNE_HW_READ_CONF_TEXTS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/facts/node.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Text by path for those of `paths` (absolute, below the tree's root) that are there. Absent is normal; forbidden,
// failing, blocking or longer than 1 MiB costs that file, with a note.
std::map<std::string, std::string, std::less<>> ReadConfTexts(const Tree& tree, const std::vector<std::string>& paths,
                                                              std::vector<facts::Note>* notes);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_READ_CONF_TEXTS_H_
