// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/check_value.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "core/facts/ip_address.h"
#include "core/nccl/name_list.h"
#include "core/nccl/nccl_integer.h"
#include "core/nccl/variables.h"

namespace nccl_tune::nccl {
namespace {

struct Complaint {
  std::string what;
  std::string expected{};
  std::string hint{};
};

base::Error MakeError(const Variable& variable, std::string_view value, Complaint complaint) {
  if (complaint.hint.empty()) complaint.hint = std::string(variable.hint);
  return base::Error{.code = base::Code::kInvalidInput,
                     .what = std::move(complaint.what),
                     .where = std::string(variable.name),
                     .seen = std::string(value),
                     .expected = std::move(complaint.expected),
                     .hint = std::move(complaint.hint)};
}

std::vector<std::string_view> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string Quote(std::string_view text) { return "\"" + base::Printable(text) + "\""; }

std::string_view WithoutSymbols(std::string_view entry) {
  const std::size_t start = entry.find_first_not_of("^=");
  return start == std::string_view::npos ? std::string_view() : entry.substr(start);
}

// The list with its symbols once, at the start, and without blanks and empty entries.
std::string Corrected(std::string_view value, bool exclude, bool exact) {
  std::string out;
  for (const std::string_view entry : Split(value, ",;")) {
    const std::string_view name = WithoutSymbols(base::Trim(entry));
    if (!name.empty()) out += (out.empty() ? "" : ",") + std::string(name);
  }
  return (exclude ? "^" : "") + std::string(exact ? "=" : "") + out;
}

std::string IntegerRange(const Variable& variable) {
  const std::string low = std::to_string(variable.low);
  if (variable.high > 0xffffffff) return low + " or more";
  return low + " to " + std::to_string(variable.high);
}

base::Status CheckInteger(const Variable& variable, std::string_view value) {
  const NcclInteger read = ReadNcclInteger(value);
  const std::string number = std::to_string(read.value.value_or(0));
  const std::string expected = IntegerRange(variable);
  switch (read.form) {
    case IntegerForm::kNoNumber:
      return MakeError(variable, value, {"text, which reads silently as 0", expected});
    case IntegerForm::kRestText:
      return MakeError(variable, value, {"text after the number is ignored, so it reads as " + number, expected});
    case IntegerForm::kOctal: {
      const std::size_t digit = value.find_first_not_of("+-0");
      const std::string decimal = digit == std::string_view::npos ? "0" : std::string(value.substr(digit));
      return MakeError(variable, value,
                       {"a leading 0 makes it octal, so it reads as " + number, expected, "Write " + decimal + "."});
    }
    case IntegerForm::kTooLarge:
      return MakeError(variable, value, {"too large a number, so the default applies", expected});
    case IntegerForm::kEmpty:
    case IntegerForm::kPlain:
      break;
  }
  if (read.value && (*read.value < variable.low || *read.value > variable.high)) {
    return MakeError(variable, value, {"number out of range", expected});
  }
  return base::Ok();
}

base::Status CheckEnum(const Variable& variable, std::string_view value) {
  const std::vector<std::string_view> legal = Split(variable.legal, "|");
  if (std::find(legal.begin(), legal.end(), value) != legal.end()) return base::Ok();
  std::string expected;
  for (const std::string_view one : legal) expected += (expected.empty() ? "" : ", ") + std::string(one);
  std::string upper(base::Trim(value));
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string hint;
  if (std::find(legal.begin(), legal.end(), upper) != legal.end()) hint = "Write " + upper + ".";
  return MakeError(variable, value, {"no value of this variable, so it is ignored", expected, hint});
}

base::Status CheckCidr(const Variable& variable, std::string_view value) {
  const std::string expected = "one network such as 10.0.0.0/8";
  if (value.find_first_of(", ;") != std::string_view::npos) {
    return MakeError(variable, value, {"more than one network, or a blank", expected});
  }
  const std::size_t slash = value.find('/');
  if (slash == std::string_view::npos) return MakeError(variable, value, {"no prefix length", expected});
  const auto address = facts::ParseIpAddress(value.substr(0, slash));
  const auto length = base::ParseInteger<std::int64_t>(value.substr(slash + 1));
  if (!address.ok()) return MakeError(variable, value, {"no IP address before the slash", expected});
  if (!length.ok()) return MakeError(variable, value, {"no number after the slash", expected});
  const auto prefix = facts::MakePrefix(*address, *length);
  if (!prefix.ok()) return MakeError(variable, value, {prefix.error().what, prefix.error().expected});
  return base::Ok();
}

// A port that can never match: ports begin at 1.
base::Status CheckPorts(const Variable& variable, std::string_view value) {
  for (const std::string_view entry : Split(WithoutSymbols(value), ",")) {
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos) continue;
    if (variable.syntax == ListSyntax::kInterfaces) {
      return MakeError(variable, value, {"an interface has no port, and an alias label cannot be named", "names"});
    }
    const std::string_view port = Split(entry.substr(colon + 1), ":").front();
    if (port.empty() && entry.find(':', colon + 1) != std::string_view::npos) continue;  // any port, with a rail
    if (ReadListNumber(port) >= 1 && base::ParseInteger<int>(port).ok()) continue;
    return MakeError(variable, value, {"port " + Quote(port) + " matches none", "a number from 1 on"});
  }
  return base::Ok();
}

base::Status CheckEffect(const Variable& variable, std::string_view value, const NameList& list) {
  if (list.entries.empty()) {
    return MakeError(variable, value,
                     {std::string("a list without names, which takes ") + (list.exclude ? "nothing" : "everything")});
  }
  if (list.dropped > 0) {
    return MakeError(variable, value,
                     {"NCCL keeps " + std::to_string(list.entries.size()) + " names and ignores the rest"});
  }
  if (variable.syntax == ListSyntax::kInterfaces && list.exclude && list.Matches("lo")) {
    return MakeError(
        variable, value,
        {"a list that excludes replaces the defaults and so admits lo", "", "Add lo, or name one interface."});
  }
  return base::Ok();
}

base::Status CheckNcclList(const Variable& variable, std::string_view value) {
  const bool interfaces = variable.syntax == ListSyntax::kInterfaces;
  if (interfaces && value.size() == 1) return MakeError(variable, value, {"one character, which counts as unset"});
  const NcclVersion newest{2, 32, 0};
  const NameList list = interfaces ? *ParseInterfaceList(value, newest) : ParseHcaList(value, newest);
  const std::string once =
      "Write " +
      Quote(Corrected(value, value.find('^') != std::string_view::npos, value.find('=') != std::string_view::npos)) +
      ".";
  if (value.find_first_of(" ;") != std::string_view::npos) {
    return MakeError(variable, value, {"blanks and semicolons are part of a name", "names with commas between", once});
  }
  for (const NameListEntry& entry : list.entries) {
    if (!entry.name.starts_with('^') && !entry.name.starts_with('=')) continue;
    return MakeError(variable, value, {"a symbol counts only at the start, here it is part of a name", "", once});
  }
  NCCL_TUNE_RETURN_IF_ERROR(CheckPorts(variable, value));
  return CheckEffect(variable, value, list);
}

base::Status CheckPlainList(const Variable& variable, std::string_view value) {
  const bool hat = variable.syntax == ListSyntax::kHatNames && value.starts_with('^');
  const std::string hint = "Write " + Quote(Corrected(value, hat, false)) + ".";
  const std::string_view names = hat ? value.substr(1) : value;
  if (names.find(' ') != std::string_view::npos) {
    return MakeError(variable, value, {"blanks are part of a name", "names with commas between", hint});
  }
  for (const std::string_view entry : Split(names, variable.syntax == ListSyntax::kGroups ? ",;" : ",")) {
    if (entry.empty()) return MakeError(variable, value, {"an empty name", "names with commas between", hint});
    if (!entry.starts_with('^') && !entry.starts_with('=')) continue;
    return MakeError(variable, value, {"names are exact here, the symbol would be part of one", "plain names", hint});
  }
  return base::Ok();
}

base::Status CheckList(const Variable& variable, std::string_view value) {
  const bool nccl = variable.syntax == ListSyntax::kHcas || variable.syntax == ListSyntax::kInterfaces;
  return nccl ? CheckNcclList(variable, value) : CheckPlainList(variable, value);
}

bool IsControl(char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }

}  // namespace

base::Status CheckValue(std::string_view name, std::string_view value) {
  const Variable* variable = Lookup(name);
  if (variable == nullptr) {
    return base::Error{
        .code = base::Code::kNotFound, .what = "not a variable that we know", .where = std::string(name)};
  }
  if (value.empty()) {
    const std::string hint = std::string(variable->hint) + (variable->hint.empty() ? "" : " ") + "Unset it instead.";
    return MakeError(*variable, value, {"empty value", "", hint});
  }
  if (std::any_of(value.begin(), value.end(), IsControl)) {
    return MakeError(*variable, value, {"a line end or other control character in the value"});
  }
  switch (variable->kind) {
    case VariableKind::kInteger:
      return CheckInteger(*variable, value);
    case VariableKind::kList:
      return CheckList(*variable, value);
    case VariableKind::kCidr:
      return CheckCidr(*variable, value);
    case VariableKind::kEnum:
      return CheckEnum(*variable, value);
    case VariableKind::kText:
      break;
  }
  return base::Ok();
}

}  // namespace nccl_tune::nccl
