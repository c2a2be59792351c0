// SPDX-License-Identifier: Apache-2.0
//
// For tests only: the bytes of a loader cache.
#ifndef NCCL_TUNE_HW_TEST_LOADER_CACHE_H_
#define NCCL_TUNE_HW_TEST_LOADER_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nccl_tune::hw {

struct CacheEntry {
  std::uint32_t flags = 0x0303;  // a library for 64-bit x86
  std::string name;
  std::string path;
};

inline std::string MakeLoaderCache(const std::vector<CacheEntry>& entries) {
  std::string table;
  std::string texts;
  const auto put = [](std::string* to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) *to += static_cast<char>(value >> (8 * i) & 0xff);
  };
  const std::size_t first_text = 48 + 24 * entries.size();
  for (const auto& entry : entries) {
    put(&table, entry.flags, 4);
    put(&table, first_text + texts.size(), 4);
    texts += entry.name + '\0';
    put(&table, first_text + texts.size(), 4);
    texts += entry.path + '\0';
    put(&table, 0, 4);
    put(&table, 0, 8);
  }
  std::string out = "glibc-ld.so.cache1.1";
  put(&out, entries.size(), 4);
  put(&out, texts.size(), 4);
  out.resize(48, '\0');
  return out + table + texts;
}

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_TEST_LOADER_CACHE_H_
