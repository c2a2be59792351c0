// SPDX-License-Identifier: Apache-2.0
#include "bench/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"

namespace nccl_tune::bench {
namespace {

template <typename Write>
std::string Written(Write write) {
  JsonWriter json;
  write(json);
  return json.Take();
}

TEST(JsonWriterTest, Nesting) {
  JsonWriter json;
  json.BeginObject();
  json.Key("a");
  json.BeginList();
  json.Integer(1);
  json.Integer(std::numeric_limits<std::uint64_t>::max());
  json.BeginList();
  json.EndList();
  json.BeginObject();
  json.EndObject();
  json.EndList();
  json.Key("b");
  json.BeginObject();
  json.Key("c");
  json.Null();
  json.Key("d");
  json.Boolean(true);
  json.Key("e");
  json.QuotedBoolean(false);
  json.EndObject();
  json.Key("f");
  json.Strings({"x", "y"});
  json.EndObject();
  EXPECT_EQ(json.Take(), R"({"a":[1,18446744073709551615,[],{}],"b":{"c":null,"d":true,"e":"false"},"f":["x","y"]})");
}

TEST(JsonWriterTest, Numbers) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    double number;
    const char* text;
  };
  for (const Case& one : std::vector<Case>{{0, "0.000000"},
                                           {-0.0, "-0.000000"},
                                           {12.5, "12.500000"},
                                           {0.0000005, "0.000000"},
                                           {0.00000051, "0.000001"},
                                           {123456789.123456789, "123456789.123457"},
                                           {1e22, "10000000000000000000000.000000"},
                                           {kInfinite, "\"inf\""},
                                           {-kInfinite, "\"-inf\""},
                                           {kNone, "\"nan\""},
                                           {-kNone, "\"nan\""}}) {
    EXPECT_EQ(Written([&](JsonWriter& json) { json.Number(one.number); }), one.text) << one.number;
  }
  const std::string greatest = Written([](JsonWriter& json) { json.Number(std::numeric_limits<double>::max()); });
  EXPECT_EQ(greatest.size(), 309U + 7U);
  EXPECT_TRUE(base::ParseJson(greatest).ok());
}

TEST(JsonWriterTest, Strings) {
  struct Case {
    std::string text;
    std::string json;
  };
  for (const Case& one : std::vector<Case>{{"", R"("")"},
                                           {"a/b", R"("a/b")"},
                                           {" ~", R"(" ~")"},
                                           {"\"\\", R"("\"\\")"},
                                           {"a\tb\nc\rd", R"("a\tb\nc\rd")"},
                                           {std::string("\0\x01\x1f\x7f", 4), "\"\\u0000\\u0001\\u001f\\u007f\""},
                                           {"gr\xc3\xbc\xc3\x9f", R"("gr\u00fc\u00df")"},
                                           {"\xf0\x9f\x98\x80", R"("\ud83d\ude00")"},
                                           {"\xff", R"("\ufffd")"},
                                           {"cut \xc3", R"("cut \ufffd")"}}) {
    const std::string got = Written([&](JsonWriter& json) { json.String(one.text); });
    EXPECT_EQ(got, one.json);
    EXPECT_TRUE(base::ParseJson(got).ok()) << got;
  }
  EXPECT_EQ(Written([](JsonWriter& json) {
              json.BeginObject();
              json.Key("a\"b");
              json.Integer(-1);
              json.EndObject();
            }),
            R"({"a\"b":-1})");
}

}  // namespace
}  // namespace nccl_tune::bench
