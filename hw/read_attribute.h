// SPDX-License-Identifier: Apache-2.0
//
// Reads one attribute and parses it; what goes wrong becomes a note, so that one odd file costs one fact.
#ifndef NCCL_TUNE_HW_READ_ATTRIBUTE_H_
#define NCCL_TUNE_HW_READ_ATTRIBUTE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "core/facts/node.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Whether an absent file is worth a note.
enum class Absence { kNoted, kNormal };

// The trimmed text of a file, or nothing.
inline std::optional<std::string> ReadText(const Tree& tree, const std::string& path, Absence absence,
                                           std::vector<facts::Note>* notes) {
  const auto text = tree.Read(path);
  if (text.ok()) return std::string(base::Trim(*text));
  if (absence == Absence::kNoted || text.error().code != base::Code::kNotFound) {
    notes->push_back({.where = path, .what = text.error().what});
  }
  return std::nullopt;
}

// `parse` takes the text and yields a base::Result.
template <typename Parse>
auto ReadParsed(const Tree& tree, const std::string& path, Absence absence, Parse parse,
                std::vector<facts::Note>* notes)
    -> std::optional<std::decay_t<decltype(parse(std::string_view()).value())>> {
  const auto text = ReadText(tree, path, absence, notes);
  if (!text) return std::nullopt;
  auto value = parse(std::string_view(*text));
  if (value.ok()) return std::move(value).value();
  base::Error error = value.error();
  error.where.clear();
  notes->push_back({.where = path, .what = error.ToString()});
  return std::nullopt;
}

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_READ_ATTRIBUTE_H_
