// SPDX-License-Identifier: Apache-2.0
//
// A function that the C++ runtime names and we never call. glibc has it since 2.36 only; with one of our own the
// library also loads in containers with an older one.
#include <sys/random.h>

// Hidden: gold would export what the C library has too.
extern "C" __attribute__((visibility("hidden"))) unsigned int arc4random() noexcept {
  unsigned int value = 0;
  return getrandom(&value, sizeof value, 0) == sizeof value ? value : 0;
}
