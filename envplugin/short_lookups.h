// SPDX-License-Identifier: Apache-2.0
//
// Keeps this thread's look-ups of names short while it lives: a name server that does not answer is asked once and
// waited for one second, instead of twice and five. Other threads are not touched, and the thread's own options come
// back.
//
// Source: resolver(3); glibc keeps _res for each thread and getaddrinfo follows it.
#ifndef NCCL_TUNE_ENVPLUGIN_SHORT_LOOKUPS_H_
#define NCCL_TUNE_ENVPLUGIN_SHORT_LOOKUPS_H_

namespace nccl_tune::envplugin {

class ShortLookups {
 public:
  ShortLookups();
  ~ShortLookups();
  ShortLookups(const ShortLookups&) = delete;
  ShortLookups& operator=(const ShortLookups&) = delete;

 private:
  bool changed_ = false;  // the resolver could be read
  int retrans_ = 0;
  int retry_ = 0;
};

}  // namespace nccl_tune::envplugin

#endif  // NCCL_TUNE_ENVPLUGIN_SHORT_LOOKUPS_H_
