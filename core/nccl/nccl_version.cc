// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/nccl_version.h"

#include <array>
#include <cstddef>

#include "base/parse_number.h"

namespace nccl_tune::nccl {
namespace {

base::Error NotAVersion(std::string_view text) {
  return base::Error{.code = base::Code::kInvalidInput,
                     .what = "not an NCCL version",
                     .seen = std::string(text),
                     .expected = "a version such as 2.28.9"};
}

}  // namespace

bool NcclVersion::IsKnown() const { return major == 2 && minor >= 18 && minor <= 32; }

std::string NcclVersion::ToString() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

base::Result<NcclVersion> ParseNcclVersion(std::string_view text) {
  std::array<int, 3> parts{};
  std::string_view rest = text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t dot = rest.find('.');
    const bool last = i + 1 == parts.size();
    if (last != (dot == std::string_view::npos)) return NotAVersion(text);
    const auto part = base::ParseInteger<int>(rest.substr(0, dot));
    if (!part.ok() || *part < 0 || *part > 99) return NotAVersion(text);
    parts[i] = *part;
    if (!last) rest.remove_prefix(dot + 1);
  }
  return NcclVersion{parts[0], parts[1], parts[2]};
}

base::Result<NcclVersion> NcclVersionFromCode(int code) {
  // 2.9 changed the weight of the major number from 1000 to 10000.
  const int weight = code < 10000 ? 1000 : 10000;
  const NcclVersion version{code / weight, code % weight / 100, code % 100};
  const bool old_form = weight == 1000;
  if (code < 1000 || version.major > 99 || (old_form && version.minor > 8)) return NotAVersion(std::to_string(code));
  return version;
}

}  // namespace nccl_tune::nccl
