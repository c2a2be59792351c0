// SPDX-License-Identifier: Apache-2.0
#include "hw/local_ports.h"

#include <string>

#include "base/parse_number.h"

namespace nccl_tune::hw {
namespace {

constexpr const char* kPath = "proc/sys/net/ipv4/ip_local_port_range";

}  // namespace

base::Result<LocalPorts> ParseLocalPorts(std::string_view text) {
  const std::string_view line = base::Trim(text);
  const base::Error malformed{.code = base::Code::kInvalidInput,
                              .what = "malformed",
                              .where = kPath,
                              .seen = std::string(line),
                              .expected = "two ports, the lower one first"};
  const std::size_t blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) return malformed;
  const auto first = base::ParseInteger<std::uint16_t>(line.substr(0, blank));
  const auto last = base::ParseInteger<std::uint16_t>(base::Trim(line.substr(blank)));
  if (!first.ok() || !last.ok() || *first > *last) return malformed;
  return LocalPorts{.first = *first, .last = *last};
}

base::Result<LocalPorts> ReadLocalPorts(const Tree& tree) {
  NCCL_TUNE_ASSIGN_OR_RETURN(text, tree.Read(kPath));
  return ParseLocalPorts(text);
}

}  // namespace nccl_tune::hw
