// SPDX-License-Identifier: Apache-2.0
#include "site/document.h"

#include <gtest/gtest.h>

#include <string>

#include "base/result.h"

namespace nccl_tune::site {
namespace {

std::string Show(const Value& value) {
  std::string out(ToText(value.kind));
  out += "@" + std::to_string(value.line);
  if (value.kind == Value::Kind::kText) out += " " + value.text;
  if (value.kind == Value::Kind::kInteger) out += " " + std::to_string(value.integer);
  for (const Value& item : value.items) out += " [" + Show(item) + "]";
  for (const Member& member : value.members) {
    out += " {" + member.key + "@" + std::to_string(member.line) + " " + Show(member.value) + "}";
  }
  return out;
}

TEST(DocumentTest, ValuesKnowTheirLines) {
  const auto document = ParseDocument(
      "# comment\n"
      "z = \"text\"\n"
      "a = 7\n"
      "[b]\n"
      "list = [1,\n"
      "  { x = true }]\n"
      "[[when]]\n"
      "d = 1979-05-27\n",
      "f");
  ASSERT_TRUE(document.ok()) << document.error().ToString();
  EXPECT_EQ(
      Show(*document),
      "a table@0 {z@2 a text@2 text} {a@3 a whole number@3 7} {b@4 a table@4 {list@5 a list@5 [a whole number@5 1] "
      "[a table@6 {x@6 a boolean@6}]}} {when@7 a list@7 [a table@7 {d@8 a date or time@8}]}");
  EXPECT_TRUE(ParseDocument("", "f").ok());
  EXPECT_TRUE(ParseDocument("\xef\xbb\xbfmode = \"off\"\r\n", "f").ok());
}

TEST(DocumentTest, ManyDotsThatAreNoKeyAreFine) {
  std::string subnets = "a = [";
  for (int i = 0; i < 100; ++i) subnets += "\"10.0.0.0/8\", 1.5, ";
  EXPECT_TRUE(ParseDocument(subnets + "] # a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s\n", "f").ok());
  EXPECT_TRUE(
      ParseDocument("a = \"\"\"x\"y.......................\\\"\"\"\"\"\"\nb = '''\n...............'''''\n", "f").ok());
  EXPECT_TRUE(ParseDocument("a = 1 # caf\xc3\xa9", "f").ok());
  EXPECT_TRUE(ParseDocument("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p = 1", "f").ok());
}

std::string Repeat(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(DocumentTest, BadTextSaysWhere) {
  const struct {
    std::string text;
    std::string message;  // its beginning
  } kRows[] = {
      {std::string(kLargestPolicy + 1, '#'), "f: file too large: got \"1048577 bytes\", expected at most 1 MiB"},
      {std::string("a = 1\n\0b", 8),
       "f:2: not a text file: a control character: got \"\\x00\", expected TOML in UTF-8"},
      {"\x7f"
       "ELF",
       "f:1: not a text file: a control character: got \"\\x7f\", expected TOML in UTF-8"},
      {"a = 1\n\x1b[31m", "f:2: not a text file: a control character: got \"\\x1b\", expected TOML in UTF-8"},
      {Repeat("a.", 16) + "a = 1",
       "f:1: key of too many parts: got \"" + Repeat("a.", 16) + "a = 1\", expected at most 16, with dots between"},
      {"\n" + Repeat("a.", 500000) + "a = 1", "f:2: key of too many parts: got \""},
      {"[" + Repeat("a . ", 16) + "a]", "f:1: key of too many parts: got \""},
      {"x = { " + Repeat("\"a\".", 16) + "a = 1 }", "f:1: key of too many parts: got \""},
      {"x = [\"\"\"a\"\"\"\"\", { " + Repeat("a.", 16) + "a = 1 }]", "f:1: key of too many parts: got \""},
      {"x = " + Repeat("[", 100), "f:1: not TOML: "},
      {"x = " + Repeat("[", 500000), "f:1: not TOML: "},
      {"x = " + Repeat("{a=", 100000), "f:1: not TOML: "},
      {"mode = off", "f:1: not TOML: a text without quotes: got \"mode = off\". A text needs quotes: mode = \"off\"."},
      {"[set]\nNCCL_DEBUG=INFO",
       "f:2: not TOML: a text without quotes: got \"NCCL_DEBUG=INFO\". A text needs quotes: NCCL_DEBUG = \"INFO\"."},
      {"bootstrap = 10.1.0.0/16  # why",
       "f:1: not TOML: a text without quotes: got \"bootstrap = 10.1.0.0/16  # why\". A text needs quotes: bootstrap = "
       "\"10.1.0.0/16\"."},
      {"a = [mlx5_0, mlx5_7]",
       "f:1: not TOML: a text without quotes: got \"a = [mlx5_0, mlx5_7]\". A text needs quotes, in a list too: "
       "[\"a\", "
       "\"b\"]."},
      {"a = ", "f:1: not TOML: Error while parsing"},
      {"a = 1 2", "f:1: not TOML: Error while parsing"},
      {"a = 1..2.3x{", "f:1: not TOML: Error while parsing"},
      {"mode \"off\"", "f:1: not TOML: "},
      {"mode = \"off", "f:1: not TOML: "},
      {"mode = 'off\"", "f:1: not TOML: "},
      {"a = 1\n\nmode = ", "f:3: not TOML: "},
      {"a = 1\na = 2\n", "f:2: not TOML: "},
      {"[a]\n[b]\n[a]\n", "f:3: not TOML: "},
      {"a = [1, 2", "f:1: not TOML: "},
      {"a = {x = 1,\n y = 2}", "f:1: not TOML: "},
      {"a = 99999999999999999999", "f:1: not TOML: "},
      {"a = \"\xff\xfe\"", "f:1: a character that is not ASCII: got \""},
      // Broken text makes the library take a quoted letter for a bare one.
      {"s=-\"r\xef\xb9\xbf\x65", "f:1: a character that is not ASCII: got \""},
      {"a = \"caf\xc3\xa9\"", "f:1: a character that is not ASCII: got \""},
      {"<policy/>", "f:1: not TOML: "},
      {"{\"mode\": \"off\"}", "f:1: not TOML: "},
      {"a = 1\n\xca\x8bwha",
       "f:2: a character that is not ASCII: got \"\\xca\\x8bwha\", expected such characters in comments "
       "only"},
      {"\xc2\xa0mode = 1", "f:1: a character that is not ASCII: got \""},
      {"mode = \xe2\x80\x9coff\xe2\x80\x9d", "f:1: a character that is not ASCII: got \""},
      {"[*a]", "f:1: not TOML: "},
      {"[[*a]]", "f:1: not TOML: "},
      {"[ = ]", "f:1: not TOML: "},
      {"a.*b = 1", "f:1: not TOML: "},
      {"a = {*b = 1}", "f:1: not TOML: "},
      {"[when\n", "f:1: not TOML: "},
      {"[[when]\n", "f:1: not TOML: "},
      {"= 1", "f:1: not TOML: "},
  };
  for (const auto& row : kRows) {
    const auto got = ParseDocument(row.text, "f");
    ASSERT_FALSE(got.ok()) << row.text.substr(0, 80);
    EXPECT_EQ(got.error().ToString().substr(0, row.message.size()), row.message);
    EXPECT_LT(got.error().ToString().size(), 1000U);
  }
}

TEST(DocumentTest, ShowsTheLineThatIsNotToml) {
  EXPECT_NE(ParseDocument("a = 1\nmode = off\n", "f").error().ToString().find("got \"mode = off\""), std::string::npos);
}

}  // namespace
}  // namespace nccl_tune::site
