// SPDX-License-Identifier: Apache-2.0
//
// JSON through nlohmann-json, without its exceptions. Objects keep the order in which their keys were set, so the same
// input always gives the same bytes.
//
// Read with the functions below, never with get<>() or at() of the library: those throw on a wrong type.
#ifndef NCCL_TUNE_BASE_JSON_H_
#define NCCL_TUNE_BASE_JSON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::base {

using Json = nlohmann::ordered_json;

// Fails on anything that is not one whole JSON value, and on nesting deeper than 64.
Result<Json> ParseJson(std::string_view text);

// The text of `json`; bytes that are not UTF-8 are replaced, so this cannot fail. indent -1: on one line.
std::string DumpJson(const Json& json, int indent = -1);

// Member `key` of an object, if it is there and has that type. `json` may be of any type.
std::optional<std::string> GetString(const Json& json, std::string_view key);
std::optional<std::int64_t> GetInteger(const Json& json, std::string_view key);
std::optional<bool> GetBool(const Json& json, std::string_view key);
// The member, or a null value when there is none.
const Json& GetMember(const Json& json, std::string_view key);

}  // namespace nccl_tune::base

#endif  // NCCL_TUNE_BASE_JSON_H_
