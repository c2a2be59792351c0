// SPDX-License-Identifier: Apache-2.0
//
// The symbols by which Slurm knows the plugin and its release. Written out instead of Slurm's macro, whose const
// objects have internal linkage in C++ and are then never found.
#include "spank/slurm.h"

extern "C" {
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;

const char plugin_name[] = "nccl_tune";
const char plugin_type[] = "spank";
const unsigned int plugin_version = SLURM_VERSION_NUMBER;
const unsigned int spank_plugin_version = 1;
}
