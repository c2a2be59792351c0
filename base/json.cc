// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <limits>

namespace nccl_tune::base {
namespace {

// The library's parser recurses; text from outside must not choose how deep.
bool TooDeep(std::string_view text) {
  constexpr int kLimit = 64;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kLimit) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  if (TooDeep(text)) return Error{.code = Code::kInvalidInput, .what = "JSON nested more than 64 deep"};
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  // The library takes a NUL for the end and ignores what follows.
  if (json.is_discarded() || text.find('\0') != std::string_view::npos) {
    return Error{.code = Code::kInvalidInput, .what = "not valid JSON", .seen = std::string(text.substr(0, 40))};
  }
  return json;
}

std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

const Json& GetMember(const Json& json, std::string_view key) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(std::string(key));
  return found == json.end() ? kNull : *found;
}

std::optional<std::string> GetString(const Json& json, std::string_view key) {
  const Json& member = GetMember(json, key);
  if (!member.is_string()) return std::nullopt;
  return *member.get_ptr<const Json::string_t*>();
}

std::optional<std::int64_t> GetInteger(const Json& json, std::string_view key) {
  const Json& member = GetMember(json, key);
  if (member.is_number_unsigned()) {
    const auto value = *member.get_ptr<const Json::number_unsigned_t*>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }
  if (!member.is_number_integer()) return std::nullopt;
  return *member.get_ptr<const Json::number_integer_t*>();
}

std::optional<bool> GetBool(const Json& json, std::string_view key) {
  const Json& member = GetMember(json, key);
  if (!member.is_boolean()) return std::nullopt;
  return *member.get_ptr<const Json::boolean_t*>();
}

}  // namespace nccl_tune::base
