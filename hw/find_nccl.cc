// SPDX-License-Identifier: Apache-2.0
#include "hw/find_nccl.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "hw/loader_cache.h"

namespace nccl_tune::hw {
namespace {

using facts::FoundBy;
using facts::FoundLibrary;
using Notes = std::vector<facts::Note>;

constexpr std::string_view kNccl = "libnccl.so.2";
constexpr std::string_view kCachePath = "etc/ld.so.cache";
constexpr std::size_t kCacheLimit = 8 << 20;
constexpr std::size_t kLibraryLimit = 256 << 20;
constexpr std::array<std::string_view, 6> kUsualFolders = {"/usr/lib/x86_64-linux-gnu",
                                                           "/usr/lib/aarch64-linux-gnu",
                                                           "/usr/lib64",
                                                           "/usr/local/cuda/lib64",
                                                           "/usr/local/lib",
                                                           "/usr/lib"};

std::vector<std::string> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string> out;
  while (true) {
    const auto end = text.find_first_of(separators);
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string NameOf(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// "2.28.9" at the start of `text`: three numbers of one to three digits each.
std::string VersionAtStart(std::string_view text) {
  std::size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    if (part > 0) {
      if (at >= text.size() || text[at] != '.') return "";
      ++at;
    }
    const std::size_t first = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    if (at == first || at - first > 3) return "";
  }
  return std::string(text.substr(0, at));
}

std::optional<std::string> VersionOfName(const std::string& name) {
  constexpr std::string_view kStem = "libnccl.so.";
  if (!name.starts_with(kStem)) return std::nullopt;
  const std::string_view rest = std::string_view(name).substr(kStem.size());
  const std::string version = VersionAtStart(rest);
  return version.empty() || version.size() != rest.size() ? std::nullopt : std::optional(version);
}

// The text may lie across two pieces: the end of one stays for the next.
std::optional<std::string> VersionOfBytes(const Tree& tree, std::string_view path, Notes* notes) {
  constexpr std::string_view kKey = "NCCL version ";
  constexpr std::size_t kKept = 32;
  std::string window;
  std::string version;
  const auto done = tree.ReadBlocks(path, kLibraryLimit, [&](std::string_view block) {
    window.append(block);
    for (auto at = window.find(kKey); at != std::string::npos && version.empty(); at = window.find(kKey, at + 1)) {
      const std::string_view rest = std::string_view(window).substr(at + kKey.size());
      // Whole only when something follows it: the rest may be in the next piece.
      const std::string found = VersionAtStart(rest);
      if (found.size() < rest.size()) version = found;
    }
    window.erase(0, window.size() - std::min(window.size(), kKept));
    return version.empty();
  });
  if (!done.ok()) notes->push_back({.where = "/" + std::string(path), .what = done.error().what});
  return version.empty() ? std::nullopt : std::optional(version);
}

// Folders and cache of one environment, asked for several names.
class Search {
 public:
  Search(const Tree& tree, const base::Environment& environment, Notes* notes) : tree_(tree), notes_(notes) {
    TakeFolders(base::Lookup(environment, "LD_LIBRARY_PATH").value_or(""));
  }

  // A name, or an absolute path.
  std::optional<FoundLibrary> Find(const std::string& name) {
    if (name.find('/') != std::string::npos) return At(name, FoundBy::kNamed);
    for (const auto& folder : folders_) {
      if (auto found = At(folder + "/" + name, FoundBy::kLibraryPath)) return found;
    }
    for (const auto& path : FromCache(name)) {
      if (auto found = At(path, FoundBy::kLoaderCache)) return found;
    }
    for (const auto folder : kUsualFolders) {
      if (auto found = At(std::string(folder) + "/" + name, FoundBy::kUsualFolder)) return found;
    }
    return std::nullopt;
  }

  std::optional<FoundLibrary> At(const std::string& path, FoundBy found_by) const {
    if (!path.starts_with('/') || !tree_.Exists(BelowRoot(path))) return std::nullopt;
    return FoundLibrary{.path = path, .found_by = found_by, .version = std::nullopt, .version_from_name = false};
  }

 private:
  void TakeFolders(const std::string& value) {
    if (value.empty()) return;
    constexpr std::size_t kMost = 256;
    for (auto& folder : Split(value, ":;")) {
      if (!folder.starts_with('/') || folder.find('$') != std::string::npos) {
        notes_->push_back({.where = "LD_LIBRARY_PATH",
                           .what = "\"" + base::Printable(folder) + "\" depends on where a program runs: passed over"});
      } else if (folders_.size() < kMost) {
        folders_.push_back(std::move(folder));
      } else {
        notes_->push_back({.where = "LD_LIBRARY_PATH", .what = "only the first 256 folders were looked at"});
        return;
      }
    }
  }

  std::vector<std::string> FromCache(const std::string& name) {
    if (!cache_) {
      auto bytes = tree_.Read(kCachePath, kCacheLimit);
      if (!bytes.ok() && bytes.error().code != base::Code::kNotFound) Note(bytes.error());
      cache_ = std::move(bytes).value_or("");
    }
    if (cache_->empty()) return {};
    auto paths = FindInLoaderCache(*cache_, name);
    if (paths.ok()) return std::move(paths).value();
    Note(paths.error());
    cache_ = "";
    return {};
  }

  void Note(const base::Error& error) { notes_->push_back({.where = std::string(kCachePath), .what = error.what}); }

  const Tree& tree_;
  Notes* notes_;
  std::vector<std::string> folders_;
  std::optional<std::string> cache_;  // read when first asked for
};

std::optional<FoundLibrary> FindPreloaded(const Search& search, const base::Environment& environment) {
  for (const auto& path : Split(base::Lookup(environment, "LD_PRELOAD").value_or(""), ": ")) {
    if (NameOf(path).starts_with("libnccl.so")) return search.At(path, FoundBy::kPreload);
  }
  return std::nullopt;
}

std::optional<FoundLibrary> FindByName(const Tree& tree, const base::Environment& environment, Search* search) {
  auto out = FindPreloaded(*search, environment);
  if (!out) out = search->Find(std::string(kNccl));
  if (!out) return std::nullopt;
  out->version = VersionOfName(NameOf(tree.Resolve(BelowRoot(out->path)).value_or("")));
  out->version_from_name = out->version.has_value();
  return out;
}

// NCCL_NET_PLUGIN holds names, first one that loads: as given, and as the middle of a file's name.
std::vector<std::string> PluginNames(const std::string& asked) {
  if (asked.empty()) return {"libnccl-net.so"};
  std::vector<std::string> out;
  for (const auto& word : Split(asked, ",")) {
    if (word.empty()) continue;
    out.push_back(word);
    const bool is_file = word.find('/') != std::string::npos || (word.starts_with("lib") && word.ends_with(".so"));
    if (!is_file) out.push_back("libnccl-net-" + word + ".so");
  }
  return out;
}

facts::NetPlugin FindPlugin(Search* search, const base::Environment& environment) {
  facts::NetPlugin out;
  out.asked = base::Lookup(environment, "NCCL_NET_PLUGIN").value_or("");
  out.is_disabled = out.asked == "none";
  if (out.is_disabled) return out;
  for (const auto& name : PluginNames(out.asked)) {
    out.library = search->Find(name);
    if (out.library) break;
  }
  return out;
}

}  // namespace

facts::NcclLibraries FindNccl(const Tree& tree, const base::Environment& environment, Notes* notes) {
  facts::NcclLibraries out;
  Search search(tree, environment, notes);
  out.nccl = FindByName(tree, environment, &search);
  if (out.nccl && !out.nccl->version) out.nccl->version = VersionOfBytes(tree, BelowRoot(out.nccl->path), notes);
  out.net_plugin = FindPlugin(&search, environment);
  return out;
}

std::optional<FoundLibrary> FindNcclByName(const Tree& tree, const base::Environment& environment, Notes* notes) {
  Search search(tree, environment, notes);
  return FindByName(tree, environment, &search);
}

facts::NetPlugin FindNetPlugin(const Tree& tree, const base::Environment& environment, Notes* notes) {
  Search search(tree, environment, notes);
  return FindPlugin(&search, environment);
}

}  // namespace nccl_tune::hw
