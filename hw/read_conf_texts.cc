// SPDX-License-Identifier: Apache-2.0
#include "hw/read_conf_texts.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace nccl_tune::hw {

std::map<std::string, std::string, std::less<>> ReadConfTexts(const Tree& tree, const std::vector<std::string>& paths,
                                                              std::vector<facts::Note>* notes) {
  constexpr std::size_t kLimit = 1 << 20;
  std::map<std::string, std::string, std::less<>> out;
  for (const auto& path : paths) {
    auto text = tree.Read(BelowRoot(path), kLimit);
    if (text.ok()) {
      out.emplace(path, std::move(text).value());
    } else if (text.error().code != base::Code::kNotFound) {
      notes->push_back({.where = path, .what = text.error().what});
    }
  }
  return out;
}

}  // namespace nccl_tune::hw
