// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::base {
namespace {

TEST(JsonTest, ReadsMembersByType) {
  const auto json = ParseJson(R"({"s":"x","n":-3,"big":18446744073709551615,"b":true,"o":{"k":1}})");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(GetString(*json, "s"), "x");
  EXPECT_EQ(GetInteger(*json, "n"), -3);
  EXPECT_EQ(GetBool(*json, "b"), true);
  EXPECT_EQ(GetInteger(GetMember(*json, "o"), "k"), 1);
  EXPECT_FALSE(GetString(*json, "n"));
  EXPECT_FALSE(GetInteger(*json, "s"));
  EXPECT_FALSE(GetInteger(*json, "big"));
  EXPECT_FALSE(GetBool(*json, "absent"));
  EXPECT_TRUE(GetMember(GetMember(*json, "s"), "k").is_null());
}

TEST(JsonTest, RefusesWhatIsNotOneValue) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":}", "nul", "1 2", "{}x", "'a'", "\xff\xfe"}) {
    const auto got = ParseJson(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not valid JSON");
  }
  EXPECT_FALSE(ParseJson(std::string(100000, '[')).ok());
  EXPECT_EQ(ParseJson(std::string(65, '[')).error().what, "JSON nested more than 64 deep");
  EXPECT_TRUE(ParseJson("\"" + std::string(100, '[') + "\"").ok());
}

TEST(JsonTest, DumpKeepsOrderAndNeverFails) {
  Json json;
  json["z"] = 1;
  json["a"] = "\xff";
  EXPECT_EQ(DumpJson(json), "{\"z\":1,\"a\":\"\\ufffd\"}");
}

}  // namespace
}  // namespace nccl_tune::base
