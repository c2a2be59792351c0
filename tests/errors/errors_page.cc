// SPDX-License-Identifier: Apache-2.0
#include "tests/errors/errors_page.h"

#include <cstddef>
#include <string_view>

#include "launcher/known_errors.h"
#include "report/wrap.h"

namespace nccl_tune::errors {
namespace {

constexpr std::size_t kColumns = 120;
constexpr std::size_t kLabel = 14;

std::string Line(std::string_view label, std::string_view text) {
  return report::Wrap("    " + std::string(label), kLabel, std::string(text), kColumns);
}

std::string RowText(const launcher::KnownError& row) {
  std::string out = std::string(row.id) + "\n";
  out += Line("means", row.symptom);
  std::string_view label = "printed";
  for (const auto& pattern : row.patterns) {
    if (!pattern.empty()) out += Line(label, pattern);
    label = "or";
  }
  if (!row.also.empty()) out += Line("and", row.also);
  out += Line("cause", row.cause);
  out += Line("do", row.action);
  return out + Line("source", row.source);
}

// The rows that are general, or those that are not.
std::string Rows(bool general) {
  std::string out;
  for (const auto& row : launcher::KnownErrors()) {
    if (row.general == general) out += (out.empty() ? "" : "\n") + RowText(row);
  }
  return out;
}

}  // namespace

std::string ErrorsMarkdown() {
  return "# Known errors\n\n"
         "Made from the tables in `launcher/*_errors.cc` by `bazel run //tests/errors:update_errors_page`; a test "
         "fails "
         "when this\n"
         "page is older than they are.\n\n"
         "What `nccl-launch` explains when a rank fails, from the last lines that it printed. In *printed*, `*` stands "
         "for\n"
         "anything; one of the wordings is enough. A line is explained by the first entry that fits it.\n\n"
         "## Errors with a cause\n\n```\n" +
         Rows(/*general=*/false) +
         "```\n\n"
         "## Errors that only follow\n\n"
         "Shown when nothing above fits.\n\n```\n" +
         Rows(/*general=*/true) + "```\n";
}

}  // namespace nccl_tune::errors
