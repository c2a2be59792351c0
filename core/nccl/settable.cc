// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/settable.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "core/nccl/check_value.h"
#include "core/nccl/variables.h"

namespace nccl_tune::nccl {
namespace {

base::Error Wrong(std::string what, std::string_view seen, std::string expected, std::string hint) {
  return {.code = base::Code::kInvalidInput,
          .what = std::move(what),
          .seen = std::string(seen),
          .expected = std::move(expected),
          .hint = std::move(hint)};
}

}  // namespace

std::string DidYouMean(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& variable : AllVariables()) known.push_back(variable.name);
  const std::string_view nearest = base::Nearest(name, known);
  return nearest.empty() ? "" : "Did you mean " + std::string(nearest) + "?";
}

bool IsOurOwn(std::string_view name) { return name == "NCCL_TUNE" || name.starts_with("NCCL_TUNE_"); }

bool IsKnownName(std::string_view name) {
  return Lookup(name) != nullptr || name == "NCCL_DEBUG" || name == "NCCL_DEBUG_FILE" || name == "NCCL_DEBUG_SUBSYS";
}

base::Status CheckSettableName(std::string_view name) {
  if (Lookup(name) != nullptr) return base::Ok();
  if (IsOurOwn(name)) return Wrong("a variable of ours, which cannot be set", name, "another NCCL_ name", "");
  constexpr std::string_view kLegal = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  constexpr std::string_view kPrefix = "NCCL_";
  const bool legal = name.starts_with(kPrefix) && name.size() > kPrefix.size() && name.size() <= kLongestName &&
                     name.find_first_not_of(kLegal) == std::string_view::npos;
  if (legal) return base::Ok();
  return Wrong("not a variable that can be set", name, "NCCL_ and capitals, or one of docs/site-policy.md",
               DidYouMean(name));
}

base::Status CheckSettableValue(std::string_view name, std::string_view value) {
  if (value.size() > kLongestValue) {
    return Wrong("value of " + std::to_string(value.size()) + " bytes", value,
                 "at most " + std::to_string(kLongestValue), "");
  }
  // Bytes beyond ASCII would come back changed from a plan, which is JSON.
  const bool beyond =
      std::any_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7f; });
  if (beyond) return Wrong("a character beyond ASCII in the value", value, "", "");
  if (Lookup(name) != nullptr) return CheckValue(name, value);
  if (value.empty()) return Wrong("empty value", value, "", "Leave it out instead.");
  const bool control = std::any_of(value.begin(), value.end(), [](char c) { return c < 0x20 || c == 0x7f; });
  if (control) return Wrong("a line end or other control character in the value", value, "", "");
  return base::Ok();
}

}  // namespace nccl_tune::nccl
