// SPDX-License-Identifier: Apache-2.0
#include "site/section.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "site/document.h"

namespace nccl_tune::site {
namespace {

struct Out {
  std::string text;
  double number = 0;
  std::int64_t integer = 0;
  std::vector<std::string> texts;
  std::size_t items = 0;
};

void ReadText(const Entry& entry, Out* out, Problems* problems) {
  if (const auto* text = TakeText(entry, problems)) out->text = *text;
}
void ReadNumber(const Entry& entry, Out* out, Problems* problems) {
  if (const auto number = TakeNumber(entry, problems)) out->number = *number;
}
void ReadInteger(const Entry& entry, Out* out, Problems* problems) {
  if (const auto integer = TakeInteger(entry, problems)) out->integer = *integer;
}
void ReadTexts(const Entry& entry, Out* out, Problems* problems) {
  for (const Entry& text : TakeTexts(entry, problems)) out->texts.push_back(text.key + "=" + text.value->text);
}
void ReadItems(const Entry& entry, Out* out, Problems* problems) { out->items = TakeList(entry, problems).size(); }

constexpr Key<Out> kKeys[] = {
    {"text", &ReadText},   {"number", &ReadNumber}, {"integer", &ReadInteger},
    {"texts", &ReadTexts}, {"items", &ReadItems},
};

std::string Read(const char* text, Out* out) {
  const auto document = ParseDocument(text, "f");
  if (!document.ok()) return document.error().ToString();
  Problems problems("f");
  ReadTable<Out>({.value = &*document, .key = "", .line = 1}, kKeys, out, &problems);
  std::string all;
  for (const auto& error : problems.errors()) all += (all.empty() ? "" : "\n") + error.ToString();
  return all;
}

TEST(SectionTest, Good) {
  Out out;
  EXPECT_EQ(Read("text = \"a\"\nnumber = 2.5\ninteger = 0x10\ntexts = [\"b\", \"c\"]\nitems = [1, 2, 3]", &out), "");
  EXPECT_EQ(out.text, "a");
  EXPECT_EQ(out.number, 2.5);
  EXPECT_EQ(out.integer, 16);
  EXPECT_EQ(out.texts, (std::vector<std::string>{"texts[1]=b", "texts[2]=c"}));
  EXPECT_EQ(out.items, 3U);
  EXPECT_EQ(Read("texts = \"d\"\nnumber = 3", &out), "");
  EXPECT_EQ(out.texts.back(), "texts=d");
  EXPECT_EQ(out.number, 3);
}

TEST(SectionTest, BadValuesSayKeyLineAndKind) {
  const struct {
    const char* text;
    const char* message;
  } kRows[] = {
      {"text = 1", "f:1: text: wrong type: got \"1\", expected a text in quotes"},
      {"\ntext = 1.5", "f:2: text: wrong type: got \"1.5\", expected a text in quotes"},
      {"text = true", "f:1: text: wrong type: got \"a boolean\", expected a text in quotes"},
      {"text = [\"a\"]", "f:1: text: wrong type: got \"a list\", expected a text in quotes"},
      {"text.a = 1", "f:1: text: wrong type: got \"a table\", expected a text in quotes"},
      {"text = 1979-05-27", "f:1: text: wrong type: got \"a date or time\", expected a text in quotes"},
      {"number = \"1\"", "f:1: number: wrong type: got \"1\", expected a number without quotes"},
      {"number = false", "f:1: number: wrong type: got \"a boolean\", expected a number without quotes"},
      {"integer = 1.0", "f:1: integer: wrong type: got \"1\", expected a whole number without quotes"},
      {"integer = \"7\"", "f:1: integer: wrong type: got \"7\", expected a whole number without quotes"},
      {"texts = 1", "f:1: texts: wrong type: got \"1\", expected a text in quotes, or a list of texts"},
      {"texts = [\n\"a\",\n1]", "f:3: texts[2]: wrong type: got \"1\", expected a text in quotes"},
      {"items = \"a\"", "f:1: items: wrong type: got \"a\", expected a list in brackets"},
      {"[items]", "f:1: items: wrong type: got \"a table\", expected a list in brackets"},
      {"tetx = 1", "f:1: unknown key: got \"tetx\", expected text, number, integer, texts, items. Did you mean text?"},
      {"zzzzzz = 1", "f:1: unknown key: got \"zzzzzz\", expected text, number, integer, texts, items"},
      {"\"\" = 1", "f:1: unknown key: got \"\", expected text, number, integer, texts, items"},
      {"\"a\\nb\" = 1", "f:1: unknown key: got \"a\\x0ab\", expected text, number, integer, texts, items"},
      {"TEXT = 1", "f:1: unknown key: got \"TEXT\", expected text, number, integer, texts, items"},
      {"text = 1\nnumber = \"x\"",
       "f:1: text: wrong type: got \"1\", expected a text in quotes\n"
       "f:2: number: wrong type: got \"x\", expected a number without quotes"},
  };
  for (const auto& row : kRows) {
    Out out;
    EXPECT_EQ(Read(row.text, &out), row.message);
  }
}

}  // namespace
}  // namespace nccl_tune::site
