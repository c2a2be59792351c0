// SPDX-License-Identifier: Apache-2.0
//
// The variables that we know, of NCCL and of the libraries beside it, as one table. See check_value.h for values.
#ifndef NCCL_TUNE_CORE_NCCL_VARIABLES_H_
#define NCCL_TUNE_CORE_NCCL_VARIABLES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/nccl/nccl_version.h"

namespace nccl_tune::nccl {

enum class VariableKind { kInteger, kList, kCidr, kEnum, kText };

// What a list may hold.
enum class ListSyntax {
  kNone,        // not a list
  kHcas,        // NCCL's grammar with ports, see name_list.h
  kInterfaces,  // the same without ports
  kExactNames,  // names, neither "^" nor "="
  kHatNames,    // names, "^" in front excludes, no "="
  kGroups,      // groups of names: "a,b;c,d"
};

struct Variable {
  std::string_view name;
  VariableKind kind = VariableKind::kText;
  ListSyntax syntax = ListSyntax::kNone;
  std::int64_t low = 0;  // kInteger: smallest and largest value that means what it says
  std::int64_t high = 0;
  std::string_view legal{};            // kEnum: "A|B|C", exactly as written
  NcclVersion since{};                 // 0.0.0: before 2.18, or not NCCL's
  std::optional<NcclVersion> until{};  // first release without it
  std::string_view purpose{};          // one clause
  std::string_view hint{};             // one sentence for a wrong value; may be empty
  std::string_view section{};          // of the collected facts about NCCL: "2.3"
};

// The whole table, by name.
std::span<const Variable> AllVariables();

// The row of `name`, which is spelt exactly; nullptr when there is none.
const Variable* Lookup(std::string_view name);

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_VARIABLES_H_
