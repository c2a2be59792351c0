// SPDX-License-Identifier: Apache-2.0
#include "hw/loader_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/test_loader_cache.h"

namespace nccl_tune::hw {
namespace {

constexpr const char* kName = "libnccl.so.2";

std::string Show(const base::Result<std::vector<std::string>>& got) {
  if (!got.ok()) return got.error().what;
  std::string out;
  for (const auto& path : *got) out += (out.empty() ? "" : " ") + path;
  return out;
}

TEST(LoaderCacheTest, PathsOfAName) {
  const struct {
    std::vector<CacheEntry> entries;
    const char* paths;
  } rows[] = {
      {{{0x0303, kName, "/usr/lib/libnccl.so.2"}}, "/usr/lib/libnccl.so.2"},
      {{{0x0a03, kName, "/a"}, {0x0303, "libc.so.6", "/b"}, {0x0a03, kName, "/c"}}, "/a /c"},
      {{}, ""},
      {{{0x0303, "libnccl.so.20", "/a"}}, ""},
      {{{0x0303, "libnccl.so", "/a"}}, ""},
      {{{0x0003, kName, "/32bit"}}, ""},
      {{{0x0301, kName, "/libc5"}}, ""},
      {{{0x0303, kName, "relative"}}, ""},
      {{{0x0303, kName, ""}}, ""},
  };
  for (const auto& row : rows) {
    const std::string cache = MakeLoaderCache(row.entries);
    EXPECT_EQ(Show(FindInLoaderCache(cache, kName)), row.paths);
    // The older table in front of it shifts everything.
    EXPECT_EQ(Show(FindInLoaderCache(std::string("ld.so-1.7.0\0\0\0\0\0", 16) + cache, kName)), row.paths);
  }
}

TEST(LoaderCacheTest, BytesThatAreNone) {
  const std::string whole = MakeLoaderCache({{0x0303, kName, "/a"}});
  std::string many = whole;
  many[20] = '\xff';
  many[23] = '\xff';
  std::string outside = whole;
  outside[48 + 5] = '\x7f';
  std::string no_end = whole;
  no_end.pop_back();
  const struct {
    std::string bytes;
    const char* message;
  } rows[] = {
      {"", "not a loader cache: no \"glibc-ld.so.cache1.1\" in it"},
      {"# text\n", "not a loader cache: no \"glibc-ld.so.cache1.1\" in it"},
      {std::string(4096, '\0'), "not a loader cache: no \"glibc-ld.so.cache1.1\" in it"},
      {"glibc-ld.so.cache2.0" + std::string(100, '\0'), "not a loader cache: no \"glibc-ld.so.cache1.1\" in it"},
      {whole.substr(0, 20), "not a loader cache: it ends within its heading"},
      {whole.substr(0, 47), "not a loader cache: it ends within its heading"},
      {whole.substr(0, 48), "not a loader cache: it ends within its table"},
      {whole.substr(0, 71), "not a loader cache: it ends within its table"},
      {many, "not a loader cache: it ends within its table"},
      {outside, "not a loader cache: an entry leads outside it"},
      {whole.substr(0, 72), "not a loader cache: an entry leads outside it"},
      {no_end, "not a loader cache: an entry leads outside it"},
  };
  for (const auto& row : rows) EXPECT_EQ(Show(FindInLoaderCache(row.bytes, kName)), row.message);
}

}  // namespace
}  // namespace nccl_tune::hw
