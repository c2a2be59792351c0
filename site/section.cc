// SPDX-License-Identifier: Apache-2.0
#include "site/section.h"

#include <array>
#include <charconv>

#include "base/nearest.h"

namespace nccl_tune::site {
namespace {

base::Error WrongKind(const Entry& entry, std::string expected) {
  return WrongValue("wrong type", Show(*entry.value), std::move(expected));
}

std::string DecimalText(double number) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

}  // namespace

Entry Entry::Item(std::size_t index) const {
  const Value& item = value->items[index];
  return {.value = &item, .key = key + "[" + std::to_string(index + 1) + "]", .line = item.line};
}

Entry Entry::Under(const Member& member) const {
  return {.value = &member.value, .key = (key.empty() ? "" : key + ".") + member.key, .line = member.line};
}

void Problems::Add(const Entry& entry, base::Error fault) {
  fault.where = file_ + ":" + std::to_string(entry.line);
  if (!entry.key.empty()) fault.what = base::Printable(entry.key) + ": " + fault.what;
  errors_.push_back(std::move(fault));
}

void Problems::Note(const Entry& entry, std::string what) {
  notes_.push_back(
      {.where = file_ + ":" + std::to_string(entry.line), .what = base::Printable(entry.key) + ": " + what});
}

void Problems::AddUnknownKey(const Entry& table, const Member& member, std::span<const std::string_view> valid) {
  std::string expected;
  for (const std::string_view key : valid) expected += (expected.empty() ? "" : ", ") + std::string(key);
  const std::string_view nearest = base::Nearest(member.key, valid);
  Add({.value = &member.value, .key = table.key, .line = member.line},
      WrongValue("unknown key", member.key, expected,
                 nearest.empty() ? "" : "Did you mean " + std::string(nearest) + "?"));
}

std::string Show(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kText:
      return value.text;
    case Value::Kind::kInteger:
      return std::to_string(value.integer);
    case Value::Kind::kDecimal:
      return DecimalText(value.decimal);
    default:
      return std::string(ToText(value.kind));
  }
}

base::Error WrongValue(std::string what, std::string seen, std::string expected, std::string hint) {
  return {.code = base::Code::kInvalidInput,
          .what = std::move(what),
          .seen = std::move(seen),
          .expected = std::move(expected),
          .hint = std::move(hint)};
}

const std::string* TakeText(const Entry& entry, Problems* problems) {
  if (entry.value->kind == Value::Kind::kText) return &entry.value->text;
  problems->Add(entry, WrongKind(entry, "a text in quotes"));
  return nullptr;
}

std::optional<double> TakeNumber(const Entry& entry, Problems* problems) {
  if (entry.value->kind == Value::Kind::kInteger) return static_cast<double>(entry.value->integer);
  if (entry.value->kind == Value::Kind::kDecimal) return entry.value->decimal;
  problems->Add(entry, WrongKind(entry, "a number without quotes"));
  return std::nullopt;
}

std::optional<std::int64_t> TakeInteger(const Entry& entry, Problems* problems) {
  if (entry.value->kind == Value::Kind::kInteger) return entry.value->integer;
  problems->Add(entry, WrongKind(entry, "a whole number without quotes"));
  return std::nullopt;
}

std::vector<Entry> TakeList(const Entry& entry, Problems* problems) {
  std::vector<Entry> out;
  if (entry.value->kind != Value::Kind::kList) {
    problems->Add(entry, WrongKind(entry, "a list in brackets"));
    return out;
  }
  for (std::size_t i = 0; i < entry.value->items.size(); ++i) out.push_back(entry.Item(i));
  return out;
}

bool TakeTable(const Entry& entry, Problems* problems) {
  if (entry.value->kind == Value::Kind::kTable) return true;
  problems->Add(entry, WrongKind(entry, "a table"));
  return false;
}

std::vector<Entry> TakeTexts(const Entry& entry, Problems* problems) {
  if (entry.value->kind == Value::Kind::kText) return {entry};
  if (entry.value->kind != Value::Kind::kList) {
    problems->Add(entry, WrongKind(entry, "a text in quotes, or a list of texts"));
    return {};
  }
  std::vector<Entry> out;
  for (std::size_t i = 0; i < entry.value->items.size(); ++i) {
    if (TakeText(entry.Item(i), problems) != nullptr) out.push_back(entry.Item(i));
  }
  return out;
}

}  // namespace nccl_tune::site
