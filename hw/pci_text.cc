// SPDX-License-Identifier: Apache-2.0
#include "hw/pci_text.h"

#include <algorithm>

#include "base/parse_number.h"

namespace nccl_tune::hw {
namespace {

using base::Code;
using base::Error;
using base::Result;

Error Not(std::string what, std::string_view seen, std::string expected) {
  constexpr std::size_t kShown = 80;
  return Error{.code = Code::kInvalidInput,
               .what = "not " + std::move(what),
               .seen = std::string(seen.substr(0, kShown)),
               .expected = std::move(expected)};
}

// "570.86.15": digits and dots, at least one dot, none at the ends.
bool IsDriverVersion(std::string_view word) {
  const bool plain = word.find_first_not_of("0123456789.") == std::string_view::npos;
  return plain && word.find('.') != std::string_view::npos && word.front() != '.' && word.back() != '.';
}

}  // namespace

Result<std::optional<double>> ParseLinkSpeed(std::string_view text) {
  const std::string_view line = base::Trim(text);
  if (line == "Unknown" || line == "Unknown speed") return std::optional<double>();
  constexpr double kFastest = 1000;  // PCIe 7 has 128: what is beyond is no speed
  const auto blank = line.find(' ');
  const auto value = base::ParseDecimal(line.substr(0, blank));
  const std::string_view unit = blank == std::string_view::npos ? "" : line.substr(blank + 1);
  if (!value.ok() || *value <= 0 || *value > kFastest || !(unit == "GT/s" || unit == "GT/s PCIe")) {
    return Not("a link speed", line, "a form such as \"32.0 GT/s PCIe\"");
  }
  return std::optional<double>(*value);
}

Result<std::optional<int>> ParseLinkWidth(std::string_view text) {
  const std::string_view line = base::Trim(text);
  const auto value = base::ParseInteger<int>(line);
  if (value.ok() && (*value == 0 || *value == 63 || *value == 255)) return std::optional<int>();
  if (!value.ok() || *value < 1 || *value > 32) return Not("a link width", line, "a number of lanes from 1 to 32");
  return std::optional<int>(*value);
}

Result<facts::IommuMode> ParseIommuType(std::string_view text) {
  const std::string_view line = base::Trim(text);
  if (line.empty()) return Not("the type of an IOMMU group", line, "\"identity\" or \"DMA\"");
  if (line == "identity") return facts::IommuMode::kIdentity;
  if (line == "DMA" || line.starts_with("DMA-")) return facts::IommuMode::kTranslated;
  return facts::IommuMode::kOther;
}

Result<std::optional<int>> ParseTrafficClass(std::string_view text) {
  constexpr std::string_view kKey = "Global tclass=";
  const auto at = text.find(kKey);
  if (at == std::string_view::npos) return std::optional<int>();
  const std::string_view rest = text.substr(at + kKey.size());
  const std::string_view word = base::Trim(rest.substr(0, rest.find('\n')));
  const auto value = base::ParseInteger<int>(word);
  if (!value.ok() || *value < 0 || *value > 255) return Not("a traffic class", word, "a number from 0 to 255");
  return std::optional<int>(*value);
}

Result<bool> ParseModuleSwitch(std::string_view text) {
  const std::string_view line = base::Trim(text);
  if (line == "Y" || line == "1") return true;
  if (line == "N" || line == "0") return false;
  return Not("a switch", line, "Y or N");
}

Result<NvidiaDriver> ParseNvidiaDriver(std::string_view text) {
  const std::string_view line = base::Trim(text.substr(0, text.find('\n')));
  NvidiaDriver out;
  out.open = line.find("Open Kernel Module") != std::string_view::npos;
  for (std::string_view rest = line; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.empty() || !IsDriverVersion(word)) continue;
    out.version = std::string(word);
    return out;
  }
  return Not("the version of NVIDIA's driver", line, "\"NVRM version: NVIDIA ... 570.86.15 ...\"");
}

}  // namespace nccl_tune::hw
