// SPDX-License-Identifier: Apache-2.0
#include "hw/capture_tree.h"

#include <algorithm>
#include <utility>

namespace nccl_tune::hw {
namespace {

base::Error NotFound(std::string_view path) {
  return {.code = base::Code::kNotFound, .what = "No such file or directory", .where = std::string(path)};
}

// Splits off the first part of `path` and leaves the rest in it.
std::string_view TakePart(std::string_view* path) {
  const auto slash = path->find('/');
  const std::string_view part = path->substr(0, slash);
  path->remove_prefix(slash == std::string_view::npos ? path->size() : slash + 1);
  return part;
}

}  // namespace

CaptureTree::CaptureTree(Capture capture) : capture_(std::move(capture)) {
  // Every folder gets an entry of its own, so that look-ups need no prefix search. From the deepest up, to the first
  // one that is there: a capture may hold very many files in one very deep folder.
  for (const auto& [path, entry] : capture_.entries) {
    for (auto slash = path.rfind('/'); slash != std::string::npos && slash > 0; slash = path.rfind('/', slash - 1)) {
      if (!capture_.entries.try_emplace(path.substr(0, slash), CaptureFolder{}).second) break;
    }
  }
}

base::Result<std::string> CaptureTree::Resolve(std::string_view path) const {
  constexpr int kLinkLimit = 40;
  std::string done;
  std::string todo(path);
  for (int links = 0; !todo.empty();) {
    std::string_view view = todo;
    const std::string part(TakePart(&view));
    std::string rest(view);
    todo = rest;
    if (part.empty() || part == ".") continue;
    if (part == "..") {  // at the root it stays, as in a real one
      const auto slash = done.rfind('/');
      done.resize(slash == std::string::npos ? 0 : slash);
      continue;
    }
    const std::string next = done.empty() ? part : done + "/" + part;
    const auto entry = capture_.entries.find(next);
    if (entry == capture_.entries.end()) return NotFound(path);
    const auto* link = std::get_if<CaptureLink>(&entry->second);
    if (link == nullptr) {
      done = next;
      continue;
    }
    if (++links > kLinkLimit) {
      return base::Error{
          .code = base::Code::kUnreadable, .what = "too many levels of links", .where = std::string(path)};
    }
    if (link->target.starts_with('/')) done.clear();
    todo = rest.empty() ? link->target : link->target + "/" + rest;
  }
  return done;
}

base::Result<std::string> CaptureTree::Read(std::string_view path, std::size_t limit) const {
  NCCL_TUNE_ASSIGN_OR_RETURN(real, Resolve(path));
  const auto entry = capture_.entries.find(real);
  if (entry == capture_.entries.end()) return NotFound(path);
  if (const auto* failure = std::get_if<CaptureFailure>(&entry->second)) {
    const auto code = failure->errno_name == "EACCES" ? base::Code::kForbidden : base::Code::kUnreadable;
    return base::Error{.code = code, .what = failure->errno_name, .where = std::string(path)};
  }
  const auto* file = std::get_if<CaptureFile>(&entry->second);
  if (file == nullptr) {
    return base::Error{.code = base::Code::kUnreadable, .what = "not a file", .where = std::string(path)};
  }
  if (file->content.size() > limit) {
    return base::Error{.code = base::Code::kUnreadable,
                       .what = "longer than " + std::to_string(limit) + " bytes",
                       .where = std::string(path)};
  }
  return file->content;
}

base::Result<std::vector<std::string>> CaptureTree::List(std::string_view path) const {
  NCCL_TUNE_ASSIGN_OR_RETURN(real, Resolve(path));
  const auto entry = capture_.entries.find(real);
  if (!real.empty() && (entry == capture_.entries.end() || !std::holds_alternative<CaptureFolder>(entry->second))) {
    return NotFound(path);
  }
  const std::string prefix = real.empty() ? "" : real + "/";
  std::vector<std::string> names;
  for (auto it = capture_.entries.lower_bound(prefix); it != capture_.entries.end(); ++it) {
    const std::string_view key = it->first;
    if (!key.starts_with(prefix)) break;
    const std::string_view name = key.substr(prefix.size());
    if (!name.empty() && name.find('/') == std::string_view::npos) names.emplace_back(name);
  }
  return names;
}

facts::Openable CaptureTree::CheckOpenable(std::string_view path) const {
  const auto real = Resolve(path);
  if (!real.ok()) return Exists("dev") ? facts::Openable::kMissing : facts::Openable::kUnknown;
  const auto entry = capture_.entries.find(*real);
  const auto* device = entry == capture_.entries.end() ? nullptr : std::get_if<CaptureDevice>(&entry->second);
  return device != nullptr && device->openable ? facts::Openable::kYes : facts::Openable::kNo;
}

}  // namespace nccl_tune::hw
