// SPDX-License-Identifier: Apache-2.0
//
// The grammar of NCCL_IB_HCA and NCCL_SOCKET_IFNAME, as NCCL reads it and as we write it:
//
//   value := [ "^" ] [ "=" ] entry { "," entry }       entry := name [ ":" port [ ":" rail [ ":" plane ] ] ]
//
// "^" excludes and "=" means exact names; both count once, at the start, in this order. Nothing is trimmed.
#ifndef NCCL_TUNE_CORE_NCCL_NAME_LIST_H_
#define NCCL_TUNE_CORE_NCCL_NAME_LIST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/nccl/nccl_version.h"

namespace nccl_tune::nccl {

inline constexpr std::size_t kHcaListLimit = 32;        // entries that NCCL keeps of NCCL_IB_HCA
inline constexpr std::size_t kInterfaceListLimit = 16;  // and of NCCL_SOCKET_IFNAME
inline constexpr int kAnyNumber = -1;                   // how NCCL holds a port, rail or plane that was not given

struct NameListEntry {
  std::string name;
  int port = kAnyNumber;
  int rail = kAnyNumber;   // read from 2.30.7 on
  int plane = kAnyNumber;  // read from 2.30.7 on
};

struct NameList {
  bool exclude = false;
  bool exact = false;
  std::vector<NameListEntry> entries;
  std::size_t dropped = 0;  // entries beyond the limit, which NCCL ignores without a word

  // Whether NCCL takes `name`. Without a port (an interface) the entries' ports do not count. A list without entries
  // matches everything, so a lone "^" takes nothing.
  bool Matches(std::string_view name, std::optional<int> port = std::nullopt) const;
  // The first entry that fits, which also decides rail and plane; nullptr when none does. Ignores `exclude`.
  const NameListEntry* Find(std::string_view name, std::optional<int> port = std::nullopt) const;
};

// NCCL_IB_HCA. Empty text is a list that takes everything, like an unset variable.
NameList ParseHcaList(std::string_view value, NcclVersion version);

// NCCL_SOCKET_IFNAME; nothing for a value of at most one character, which NCCL treats as unset.
std::optional<NameList> ParseInterfaceList(std::string_view value, NcclVersion version);

struct NamedPort {
  std::string name;
  std::optional<int> port;
};

// "=a:1,b:1", at most `limit` entries. Fails on an empty list (an empty value means everything), on more than `limit`
// entries, on a port outside 1..255, and on a name that NCCL would read as something else: empty, longer than 63
// characters, with a comma, colon, semicolon, blank, control character or byte that is not ASCII, or with "^" or "=" in
// front.
base::Result<std::string> FormatExactList(const std::vector<NamedPort>& ports, std::size_t limit = kHcaListLimit);

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_NAME_LIST_H_
