// SPDX-License-Identifier: Apache-2.0
#include "core/policy/glob.h"

#include <cstddef>
#include <string>

namespace nccl_tune::policy {
namespace {

constexpr std::size_t kLongest = 128;
constexpr std::string_view kLegal =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    "_-.:@+*?";

base::Error Bad(std::string what, std::string_view pattern, std::string expected) {
  return {.code = base::Code::kInvalidInput,
          .what = std::move(what),
          .seen = std::string(pattern),
          .expected = std::move(expected)};
}

}  // namespace

base::Status CheckGlob(std::string_view pattern) {
  if (pattern.empty()) return Bad("empty name", pattern, "a name; * is any text, ? any character");
  if (pattern.size() > kLongest) {
    return Bad("name of " + std::to_string(pattern.size()) + " bytes", pattern,
               "at most " + std::to_string(kLongest) + " bytes");
  }
  if (pattern.find(',') != std::string_view::npos) return Bad("several names in one text", pattern, "one text a name");
  if (pattern.find_first_of("[]{}") != std::string_view::npos) {
    return Bad("brackets are no part of a name pattern", pattern, "letters, digits, * for any text, ? for a character");
  }
  if (pattern.starts_with('^') || pattern.starts_with('=')) {
    return Bad("names are exact here, without NCCL's signs", pattern, std::string(pattern.substr(1)));
  }
  if (pattern.find_first_not_of(kLegal) != std::string_view::npos) {
    return Bad("a character that no name has", pattern, "letters, digits, _ - . : @ +, * and ?");
  }
  return base::Ok();
}

bool MatchesGlob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;  // the last "*" seen, and what it has taken so far
  std::size_t taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace nccl_tune::policy
