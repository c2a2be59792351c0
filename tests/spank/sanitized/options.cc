// SPDX-License-Identifier: Apache-2.0
//
// The sanitizers' options without a variable that tasks would inherit: the runtimes ask these functions, and read on in
// the file, which says where reports go.
#define OPTIONS "include_if_exists=/run/cluster/bin/sanitizer-options"

// Slurm never frees some of what it takes. The runtime must follow this file's library, so it is not the first.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "detect_leaks=0:verify_asan_link_order=0:" OPTIONS;
}
extern "C" __attribute__((visibility("default"))) const char* __ubsan_default_options() {
  return "print_stacktrace=1:" OPTIONS;
}
