// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <random>
#include <string_view>

namespace nccl_tune::fuzz {
namespace {

constexpr std::array<std::string_view, 24> kTokens = {",",
                                                      ":",
                                                      "=",
                                                      "^",
                                                      " ",
                                                      "\n",
                                                      "/",
                                                      "..",
                                                      "0x",
                                                      "-1",
                                                      "0",
                                                      "00",
                                                      "{",
                                                      "}",
                                                      "[",
                                                      "\"",
                                                      "\\",
                                                      "%",
                                                      "\xff",
                                                      "é",
                                                      "|",
                                                      "->",
                                                      "18446744073709551616",
                                                      "4294967296"};

// The distributions of the standard library differ between libraries; a remainder does not.
std::size_t Below(std::mt19937* random, std::size_t count) { return count == 0 ? 0 : (*random)() % count; }

void Change(const std::vector<std::string>& texts, std::mt19937* random, std::string* text) {
  const std::size_t at = Below(random, text->size() + 1);
  const std::size_t length = 1 + Below(random, std::min<std::size_t>(64, text->size() - at + 1));
  switch (Below(random, 7)) {
    case 0:  // another bit
      if (at < text->size()) (*text)[at] = static_cast<char>((*text)[at] ^ (1 << Below(random, 8)));
      break;
    case 1:  // another byte
      if (at < text->size()) (*text)[at] = static_cast<char>(Below(random, 256));
      break;
    case 2:
      text->erase(at, length);
      break;
    case 3:
      text->insert(at, kTokens[Below(random, kTokens.size())]);
      break;
    case 4:  // twice
      text->insert(Below(random, text->size() + 1), text->substr(at, length));
      break;
    case 5:  // another text's end
    {
      const std::string& other = texts[Below(random, texts.size())];
      *text = text->substr(0, at) + other.substr(Below(random, other.size() + 1));
      break;
    }
    default:
      text->insert(at, 1, static_cast<char>(Below(random, 256)));
  }
}

}  // namespace

std::string Mutation(const std::vector<std::string>& texts, std::uint32_t number) {
  std::mt19937 random(number);
  std::string text = texts[Below(&random, texts.size())];
  const std::size_t limit = std::max(kMutationLimit, text.size());
  for (std::size_t changes = 1 + Below(&random, 6); changes > 0; --changes) Change(texts, &random, &text);
  if (text.size() > limit) text.resize(limit);
  return text;
}

}  // namespace nccl_tune::fuzz
