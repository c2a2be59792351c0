// SPDX-License-Identifier: Apache-2.0
//
// Reads one table of the policy by a table of its keys. Every fault is collected with file, line, key, the value seen
// and what is valid; reading goes on, so that one run shows them all. Threads: none.
#ifndef NCCL_TUNE_SITE_SECTION_H_
#define NCCL_TUNE_SITE_SECTION_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"
#include "core/policy/site_policy.h"
#include "site/document.h"

namespace nccl_tune::site {

// A value and the whole key that leads to it: "when[1].devices.exclude[2]".
struct Entry {
  const Value* value = nullptr;
  std::string key;
  int line = 0;

  policy::Origin origin() const { return {.key = key, .line = line}; }
  Entry Item(std::size_t index) const;  // of a list, from 0; the key counts from 1
  Entry Under(const Member& member) const;
};

class Problems {
 public:
  explicit Problems(std::string_view file) : file_(file) {}

  // `fault` says what is wrong with the value of `entry`; its `where` is replaced.
  void Add(const Entry& entry, base::Error fault);
  // Something odd that does not stop the policy.
  void Note(const Entry& entry, std::string what);
  // A key that the table does not have; names the nearest of the valid ones.
  void AddUnknownKey(const Entry& table, const Member& member, std::span<const std::string_view> valid);

  std::vector<base::Error>& errors() { return errors_; }
  std::vector<facts::Note>& notes() { return notes_; }

 private:
  std::string file_;
  std::vector<base::Error> errors_;
  std::vector<facts::Note> notes_;
};

// What the value is, as a message shows it: a scalar's text, else its kind.
std::string Show(const Value& value);

// The value of an entry when it has that kind; else a problem and nothing.
const std::string* TakeText(const Entry& entry, Problems* problems);
std::optional<double> TakeNumber(const Entry& entry, Problems* problems);
std::optional<std::int64_t> TakeInteger(const Entry& entry, Problems* problems);
// The items of a list.
std::vector<Entry> TakeList(const Entry& entry, Problems* problems);
bool TakeTable(const Entry& entry, Problems* problems);
// A text, or a list of texts.
std::vector<Entry> TakeTexts(const Entry& entry, Problems* problems);

// A problem of the kind "got X, expected Y".
base::Error WrongValue(std::string what, std::string seen, std::string expected, std::string hint = {});

// One key of a table that fills an Out.
template <typename Out>
struct Key {
  std::string_view name;
  void (*read)(const Entry& entry, Out* out, Problems* problems);
};

template <typename Out>
void ReadTable(const Entry& table, std::span<const Key<Out>> keys, Out* out, Problems* problems) {
  if (!TakeTable(table, problems)) return;
  for (const Member& member : table.value->members) {
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const auto& k) { return k.name == member.key; });
    if (key != keys.end()) {
      key->read(table.Under(member), out, problems);
      continue;
    }
    std::vector<std::string_view> valid;
    for (const auto& known : keys) valid.push_back(known.name);
    problems->AddUnknownKey(table, member, valid);
  }
}

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_SECTION_H_
