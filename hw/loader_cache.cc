// SPDX-License-Identifier: Apache-2.0
#include "hw/loader_cache.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace nccl_tune::hw {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kHeader = 48;
constexpr std::size_t kEntry = 24;
// Of an entry's flags: the low byte is 3 for glibc 2's libraries, the next one the machine, 0 for 32-bit x86.
constexpr std::uint32_t kLibc6 = 3;

base::Error NotACache(std::string what) {
  return {.code = base::Code::kInvalidInput, .what = "not a loader cache: " + std::move(what)};
}

// Little-endian, as on every machine that NCCL is built for.
std::optional<std::uint32_t> Take(std::string_view bytes, std::size_t at) {
  if (at > bytes.size() || bytes.size() - at < 4) return std::nullopt;
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    out |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return out;
}

// The text from `at` to its zero byte.
std::optional<std::string_view> TakeText(std::string_view bytes, std::optional<std::uint32_t> at) {
  if (!at || *at >= bytes.size()) return std::nullopt;
  const auto end = bytes.find('\0', *at);
  if (end == std::string_view::npos) return std::nullopt;
  return bytes.substr(*at, end - *at);
}

}  // namespace

base::Result<std::vector<std::string>> FindInLoaderCache(std::string_view cache, std::string_view soname) {
  const auto start = cache.find(kMagic);
  if (start == std::string_view::npos) return NotACache("no \"" + std::string(kMagic) + "\" in it");
  cache.remove_prefix(start);  // places are counted from here
  const auto count = Take(cache, kMagic.size());
  if (!count || cache.size() < kHeader) return NotACache("it ends within its heading");
  if (*count > (cache.size() - kHeader) / kEntry) return NotACache("it ends within its table");
  std::vector<std::string> out;
  for (std::size_t i = 0; i < *count; ++i) {
    const std::size_t at = kHeader + i * kEntry;
    const std::uint32_t flags = Take(cache, at).value_or(0);
    const auto name = TakeText(cache, Take(cache, at + 4));
    const auto path = TakeText(cache, Take(cache, at + 8));
    if (!name || !path) return NotACache("an entry leads outside it");
    const bool loadable = (flags & 0xff) == kLibc6 && (flags & 0xff00) != 0;
    if (loadable && *name == soname && path->starts_with('/')) out.emplace_back(*path);
  }
  return out;
}

}  // namespace nccl_tune::hw
