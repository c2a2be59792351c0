// SPDX-License-Identifier: Apache-2.0
//
// The dynamic loader's cache, /etc/ld.so.cache: which file a library's name stands for. The form that glibc 2.2 and
// newer write ("glibc-ld.so.cache1.1", alone or behind the older table). Bytes in, paths out; no I/O.
#ifndef NCCL_TUNE_HW_LOADER_CACHE_H_
#define NCCL_TUNE_HW_LOADER_CACHE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nccl_tune::hw {

// Every path of `soname` that a 64-bit program could load, in the cache's order, which is the loader's. Empty when the
// cache does not have it. Fails on bytes that are no such cache or that contradict themselves.
base::Result<std::vector<std::string>> FindInLoaderCache(std::string_view cache, std::string_view soname);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_LOADER_CACHE_H_
