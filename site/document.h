// SPDX-License-Identifier: Apache-2.0
//
// TOML text as plain values that know their lines, so that one file alone knows the library that reads TOML.
// Threads: plain values. Ownership: a value owns all below it.
#ifndef NCCL_TUNE_SITE_DOCUMENT_H_
#define NCCL_TUNE_SITE_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nccl_tune::site {

inline constexpr std::size_t kLargestPolicy = 1 << 20;

struct Member;

struct Value {
  enum class Kind { kText, kInteger, kDecimal, kBoolean, kDate, kList, kTable };

  Kind kind = Kind::kTable;
  int line = 0;
  std::string text;             // kText
  std::int64_t integer = 0;     // kInteger
  double decimal = 0;           // kDecimal
  std::vector<Value> items;     // kList
  std::vector<Member> members;  // kTable, in the order of the text
};

struct Member {
  std::string key;
  int line = 0;
  Value value;
};

// "a text", "a list": for messages.
std::string_view ToText(Value::Kind kind);

// The table that is the whole text; `file` names it in errors ("FILE:LINE"). Fails, with the first fault, on text that
// is not TOML, is longer than 1 MiB, holds control characters, or others than ASCII outside quotes, has keys of more
// than 16 parts or values nested deeper than 16.
base::Result<Value> ParseDocument(std::string_view text, std::string_view file);

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_DOCUMENT_H_
