// SPDX-License-Identifier: Apache-2.0
//
// Which NCCL library, and which network plugin of NCCL, a job with a given environment would load, as far as files
// tell: LD_PRELOAD, the folders of LD_LIBRARY_PATH, the loader's cache, then the usual folders.
//
// What this cannot see: a library that a program finds by its own run path, as PyTorch's wheels do with the one in
// site-packages/nvidia/nccl/lib; one linked into the program; and what a container shows instead. So "not found" is no
// proof, and a found one is what a program without a run path would get.
//
// FindNccl is never called in a job's way: the version may have to be looked for in some 200 MB of file.
#ifndef NCCL_TUNE_HW_FIND_NCCL_H_
#define NCCL_TUNE_HW_FIND_NCCL_H_

#include <optional>
#include <vector>

#include "base/environment.h"
#include "core/facts/node.h"
#include "core/facts/node_details.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// From LD_PRELOAD, LD_LIBRARY_PATH and NCCL_NET_PLUGIN of `environment`, paths below the root of `tree`. The version is
// that of the file's name (libnccl.so.2.28.9) or else of the text "NCCL version 2.28.9" in its first 256 MiB. Never
// fails; folders that depend on where the task runs are noted and passed over.
facts::NcclLibraries FindNccl(const Tree& tree, const base::Environment& environment, std::vector<facts::Note>* notes);

// The NCCL library alone, its version by the file's name only, else unknown: also in a job's way.
std::optional<facts::FoundLibrary> FindNcclByName(const Tree& tree, const base::Environment& environment,
                                                  std::vector<facts::Note>* notes);

// The network plugin part alone, which reads no library: also in a job's way.
facts::NetPlugin FindNetPlugin(const Tree& tree, const base::Environment& environment, std::vector<facts::Note>* notes);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_FIND_NCCL_H_
