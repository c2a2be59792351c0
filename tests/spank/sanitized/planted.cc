// SPDX-License-Identifier: Apache-2.0
//
// A plugin that writes one byte too far, in slurmstepd: what `tools/test --long=asan` must report before its silence on
// our plugin means anything. With the argument `undefined` it adds too much to an int instead.
#include <sys/types.h>

#include <climits>
#include <cstdint>
#include <cstring>
#include <memory>

extern "C" {
#include <slurm/slurm_version.h>
#include <slurm/spank.h>
}

extern "C" {
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;

const char plugin_name[] = "planted_fault";
const char plugin_type[] = "spank";
const unsigned int plugin_version = SLURM_VERSION_NUMBER;
const unsigned int spank_plugin_version = 1;
}

extern "C" int slurm_spank_user_init(spank_t, int argc, char** argv) {
  if (argc > 0 && std::strcmp(argv[0], "undefined") == 0) {
    volatile int number = INT_MAX;
    number = number + argc;
    return 0;
  }
  const auto size = static_cast<std::size_t>(argc) + 15;  // not known when it is compiled
  const auto block = std::make_unique<volatile char[]>(size);
  block[size] = 1;
  return 0;
}
