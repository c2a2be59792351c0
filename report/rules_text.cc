// SPDX-License-Identifier: Apache-2.0
#include "report/rules_text.h"

#include <cstddef>
#include <string_view>

#include "core/policy/decide.h"
#include "report/wrap.h"

namespace nccl_tune::report {
namespace {

constexpr std::size_t kColumns = 120;
constexpr std::size_t kLabel = 14;

// "A,B" for readers: "A, B".
std::string Spaced(std::string_view names) {
  std::string out;
  for (const char c : names) out += c == ',' ? std::string(", ") : std::string(1, c);
  return out;
}

std::string Versions(const nccl::NcclVersion& since) {
  if (since.major == 0) return "not a variable of NCCL";
  return "NCCL " + std::to_string(since.major) + "." + std::to_string(since.minor) + " to 2.32";
}

std::string Line(std::string_view label, std::string_view text) {
  return Wrap("    " + std::string(label), kLabel, std::string(text), kColumns);
}

std::string RuleText(const policy::Rule& rule) {
  std::string out = std::string(rule.variable) + "\n";
  out += Line("rule", rule.summary);
  out += Line("read by", Versions(rule.since));
  if (!rule.follows.empty()) out += Line("follows", Spaced(rule.follows));
  if (!rule.opposites.empty()) out += Line("yields to", Spaced(rule.opposites));
  return out + Line("source", rule.source);
}

}  // namespace

std::string RulesMarkdown() {
  std::string out =
      "# Rules\n\n"
      "Made from the table in `core/policy/decide.cc` by `bazel run //tests/hosts:update_goldens`; a test fails when "
      "this\n"
      "page is older than the table.\n\n"
      "A variable that the user has set is never touched. One that *follows* another stays unset where the user has "
      "set\n"
      "the other one to something else, or where that one is left unset for the user's sake; one that *yields to* "
      "another\n"
      "stays unset where the user has set the other one at all.\n\n"
      "## Variables that are set, in the order of a plan\n\n```\n";
  bool first = true;
  for (const auto& rule : policy::Rules()) {
    out += (first ? "" : "\n") + RuleText(rule);
    first = false;
  }
  out += "```\n\n## Variables that no rule sets\n\n";
  for (const auto& left : policy::VariablesLeftAlone()) {
    out += "- " + std::string(left.variables) + ":\n  " + std::string(left.why) + ".\n";
  }
  return out;
}

}  // namespace nccl_tune::report
