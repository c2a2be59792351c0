// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/name_list.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/nccl/nccl_integer.h"

namespace nccl_tune::nccl {
namespace {

// NCCL's buffer for a name has 64 bytes and its length is not checked.
constexpr std::size_t kLongestName = 63;
constexpr NcclVersion kRailsRead{2, 30, 7};

// The text before the next `separator`, which is taken off `rest` together with it.
std::string_view TakeField(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return field;
}

NameListEntry ParseEntry(std::string_view text, NcclVersion version) {
  NameListEntry entry;
  const bool has_port = text.find(':') != std::string_view::npos;
  entry.name = std::string(TakeField(text, ':'));
  if (!has_port) return entry;
  if (version < kRailsRead) {
    entry.port = ReadListNumber(text);  // an empty port is 0 there, which no port has
    return entry;
  }
  const std::array<int*, 3> numbers = {&entry.port, &entry.rail, &entry.plane};
  for (int* number : numbers) {
    const std::string_view field = TakeField(text, ':');
    if (!field.empty()) *number = ReadListNumber(field);
  }
  return entry;
}

NameList ParseList(std::string_view value, std::size_t limit, NcclVersion version) {
  NameList list;
  list.exclude = value.starts_with('^');
  if (list.exclude) value.remove_prefix(1);
  list.exact = value.starts_with('=');
  if (list.exact) value.remove_prefix(1);
  while (!value.empty()) {
    NameListEntry entry = ParseEntry(TakeField(value, ','), version);
    if (entry.name.empty()) continue;
    if (list.entries.size() < limit) {
      list.entries.push_back(std::move(entry));
    } else {
      ++list.dropped;
    }
  }
  return list;
}

base::Error BadName(std::string_view name, std::string what) {
  return base::Error{.code = base::Code::kUnsupported,
                     .what = "name cannot stand in a list of NCCL: " + std::move(what),
                     .seen = std::string(name)};
}

base::Status CheckName(std::string_view name) {
  if (name.empty()) return BadName(name, "it is empty");
  if (name.size() > kLongestName) return BadName(name, "it has more than 63 characters");
  if (name.front() == '^' || name.front() == '=') return BadName(name, "it begins with a symbol of the list");
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ',' || c == ':' || c == ';') return BadName(name, "it contains a separator");
    if (c == ' ') return BadName(name, "it contains a blank");
    if (byte < 0x20 || byte == 0x7f) return BadName(name, "it contains a control character");
    if (byte > 0x7f) return BadName(name, "it is not ASCII");
  }
  return base::Ok();
}

}  // namespace

const NameListEntry* NameList::Find(std::string_view name, std::optional<int> port) const {
  const auto fits = [&](const NameListEntry& entry) {
    const bool same_name = exact ? name == entry.name : name.starts_with(entry.name);
    return same_name && (!port || entry.port == kAnyNumber || entry.port == *port);
  };
  const auto found = std::find_if(entries.begin(), entries.end(), fits);
  return found == entries.end() ? nullptr : &*found;
}

bool NameList::Matches(std::string_view name, std::optional<int> port) const {
  const bool listed = entries.empty() || Find(name, port) != nullptr;
  return listed != exclude;
}

NameList ParseHcaList(std::string_view value, NcclVersion version) { return ParseList(value, kHcaListLimit, version); }

std::optional<NameList> ParseInterfaceList(std::string_view value, NcclVersion version) {
  if (value.size() <= 1) return std::nullopt;
  return ParseList(value, kInterfaceListLimit, version);
}

base::Result<std::string> FormatExactList(const std::vector<NamedPort>& ports, std::size_t limit) {
  if (ports.empty()) {
    return base::Error{.code = base::Code::kUnsupported,
                       .what = "an empty list would select everything",
                       .hint = "Leave the variable unset."};
  }
  if (ports.size() > limit) {
    return base::Error{.code = base::Code::kUnsupported,
                       .what = "more names than NCCL keeps",
                       .seen = std::to_string(ports.size()),
                       .expected = "at most " + std::to_string(limit)};
  }
  std::string out;
  for (const NamedPort& entry : ports) {
    NCCL_TUNE_RETURN_IF_ERROR(CheckName(entry.name));
    out += (out.empty() ? "=" : ",") + entry.name;
    if (!entry.port) continue;
    if (*entry.port < 1 || *entry.port > 255) {
      return base::Error{.code = base::Code::kUnsupported,
                         .what = "no port of a device",
                         .where = entry.name,
                         .seen = std::to_string(*entry.port),
                         .expected = "1 to 255"};
    }
    out += ":" + std::to_string(*entry.port);
  }
  return out;
}

}  // namespace nccl_tune::nccl
