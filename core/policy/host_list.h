// SPDX-License-Identifier: Apache-2.0
//
// Host lists as Slurm writes them: "login1,node[01-16,20],rack[0-3]n[1-9]". Matching only: nothing is expanded, so a
// list costs what its text costs. Source of the rules: slurm.conf(5), "NodeName".
#ifndef NCCL_TUNE_CORE_POLICY_HOST_LIST_H_
#define NCCL_TUNE_CORE_POLICY_HOST_LIST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace nccl_tune::policy {

// "01-16": numbers written with at least `width` digits, filled up with zeros.
struct HostRange {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  std::size_t width = 1;

  bool operator==(const HostRange&) const = default;
};

class HostList {
 public:
  bool Contains(std::string_view host) const;
  const std::string& text() const { return text_; }  // as it was written
  bool operator==(const HostList&) const = default;

 private:
  friend class HostListParser;
  // Plain text, or what stands in one pair of brackets.
  using Part = std::variant<std::string, std::vector<HostRange>>;
  using Pattern = std::vector<Part>;

  static bool Matches(const Pattern& pattern, std::size_t part, std::string_view rest);

  std::string text_;
  std::vector<Pattern> patterns_;
};

// Errors show the entry that is wrong, not the whole list; without `where`. Refused: blanks, empty entries, brackets
// that do not close or hold no number, reversed ranges, numbers above 9 digits, more than 4 pairs of brackets in a
// name, characters that no host name has.
base::Result<HostList> ParseHostList(std::string_view text);

// Names in the order in which people count: n9 before n10.
bool HostLess(std::string_view a, std::string_view b);

// The shortest such list of these names that this can find, each once: "n[1-3,10],login1". Only the last number of a
// name is put into brackets.
std::string FormatHostList(std::vector<std::string> names);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_HOST_LIST_H_
