// SPDX-License-Identifier: Apache-2.0
#include "site/arguments.h"

#include <array>
#include <utility>

#include "base/nearest.h"
#include "base/parse_number.h"

namespace nccl_tune::site {
namespace {

base::Error Wrong(std::string what, std::string_view seen, std::string expected) {
  return {.code = base::Code::kInvalidInput,
          .what = std::move(what),
          .seen = std::string(seen),
          .expected = std::move(expected)};
}

base::Status TakeDefault(std::string_view argument, std::string_view value, Arguments* out) {
  // No value means auto on a command line; a site's default is never guessed.
  constexpr const char* kModes = "policy, off, auto, explain, dry-run, strict or mpi";
  if (value.empty()) return Wrong("default without a mode", argument, kModes);
  if (value == "policy") {
    out->default_by_policy = true;
    return base::Ok();
  }
  auto mode = ParseMode(value, "default");
  if (!mode.ok()) {
    base::Error error = mode.error();
    error.expected = kModes;
    return error;
  }
  out->site_default = *std::move(mode);
  return base::Ok();
}

base::Status TakeTimeout(std::string_view value, Arguments* out) {
  constexpr int kLongest = 10000;
  const auto number = base::ParseInt(value);
  if (!number.ok() || *number < 1 || *number > kLongest) return Wrong("bad timeout_ms", value, "1 to 10000");
  out->deadline = std::chrono::milliseconds(*number);
  return base::Ok();
}

}  // namespace

base::Status TakeArgument(std::string_view argument, Arguments* out) {
  const auto equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : argument.substr(equals + 1);
  if (name == "default") return TakeDefault(argument, value, out);
  if (name == "timeout_ms") return TakeTimeout(value, out);
  if (name != "policy") {
    constexpr std::array<std::string_view, 3> kNames = {"default", "policy", "timeout_ms"};
    const std::string_view meant = base::Nearest(name, kNames);
    base::Error error = Wrong("unknown argument", argument, "default=MODE, policy=FILE or timeout_ms=NUMBER");
    if (!meant.empty()) error.hint = "Did you mean " + std::string(meant) + "?";
    return error;
  }
  if (!value.starts_with('/') || value.ends_with('/')) return Wrong("bad policy", value, "an absolute path of a file");
  out->policy = value;
  return base::Ok();
}

}  // namespace nccl_tune::site
