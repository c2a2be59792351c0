// SPDX-License-Identifier: Apache-2.0
#include "base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace nccl_tune::base {

bool OpenStandardDescriptors() {
  bool has_output = true;
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    if (descriptor == STDOUT_FILENO) has_output = false;
    // The lowest number that is free: those below are open by now.
    if (open("/dev/null", O_RDWR) < 0) break;
  }
  return has_output;
}

}  // namespace nccl_tune::base
