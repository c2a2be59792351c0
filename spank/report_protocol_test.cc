// SPDX-License-Identifier: Apache-2.0
#include "spank/report_protocol.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::spank {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

TEST(ReportProtocolTest, PlacesComeBackAsTheyWere) {
  for (const char* text : {"1:0123456789abcdef0123456789abcdef:10.0.0.1",
                           "65535:0123456789abcdef0123456789abcdef:10.0.0.1,fd00::1,192.168.0.7"}) {
    const auto place = ParseCollectorPlace(text);
    ASSERT_TRUE(place.ok()) << text;
    EXPECT_EQ(ToText(*place), text);
    EXPECT_EQ(*ParseCollectorPlace(ToText(*place)), *place);
  }
}

TEST(ReportProtocolTest, BadPlaces) {
  const std::string many = "10.0.0.1,10.0.0.1,10.0.0.1,10.0.0.1,10.0.0.1,10.0.0.1,10.0.0.1,10.0.0.1";
  const struct {
    std::string text;
    const char* what;
  } kRows[] = {
      {"", "not PORT:TOKEN:ADDRESSES"},
      {"1", "not PORT:TOKEN:ADDRESSES"},
      {"1:" + kToken, "not PORT:TOKEN:ADDRESSES"},
      {":" + kToken + ":10.0.0.1", "not a port"},
      {"0:" + kToken + ":10.0.0.1", "not a port"},
      {"65536:" + kToken + ":10.0.0.1", "not a port"},
      {"-1:" + kToken + ":10.0.0.1", "not a port"},
      {"x:" + kToken + ":10.0.0.1", "not a port"},
      {"1::10.0.0.1", "not a token"},
      {"1:abc:10.0.0.1", "not a token"},
      {"1:" + std::string(32, 'G') + ":10.0.0.1", "not a token"},
      {"1:" + kToken + "0:10.0.0.1", "not a token"},
      {"1:" + kToken + ":", "not an address"},
      {"1:" + kToken + ":,", "not an address"},
      {"1:" + kToken + ":10.0.0.1,", "not an address"},
      {"1:" + kToken + ":10.0.0.1,,10.0.0.2", "not an address"},
      {"1:" + kToken + ":server1", "not an address"},
      {"1:" + kToken + ":10.0.0.1 ", "not an address"},
      {"1:" + kToken + ":" + many + ",10.0.0.2", "too many addresses"},
  };
  for (const auto& row : kRows) {
    const auto got = ParseCollectorPlace(row.text);
    ASSERT_FALSE(got.ok()) << row.text;
    EXPECT_EQ(got.error().what, row.what) << row.text;
  }
  EXPECT_TRUE(ParseCollectorPlace("1:" + kToken + ":" + many).ok());
}

TEST(ReportProtocolTest, ReportsComeBackAsTheyWere) {
  const Report report{.node = "server1", .key = "{\"a\":1}", .text = "a\n  b\xc3\xa4 \"c\"\n"};
  const std::string line = ToLine(report, kToken);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto got = ParseReport(line, kToken);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, report);
}

TEST(ReportProtocolTest, BadReports) {
  const auto line = [](const char* rest) { return "{\"token\":\"" + kToken + "\"" + rest + "}"; };
  const struct {
    std::string line;
    const char* what;
  } kRows[] = {
      {"", "not a report"},
      {"hello", "not a report"},
      {"GET / HTTP/1.1\r\n", "not a report"},
      {"{}", "not of this step"},
      {"[]", "not of this step"},
      {"7", "not of this step"},
      {R"({"token":"x","node":"a","key":"","text":""})", "not of this step"},
      {R"({"token":7,"node":"a","key":"","text":""})", "not of this step"},
      {line(""), "a report without its parts"},
      {line(R"(,"node":"a","key":"k")"), "a report without its parts"},
      {line(R"(,"node":"","key":"k","text":"t")"), "a report without its parts"},
      {line(R"(,"node":7,"key":"k","text":"t")"), "a report without its parts"},
      {line(R"(,"node":"a","key":[],"text":"t")"), "a report without its parts"},
      {line((",\"node\":\"" + std::string(256, 'n') + R"(","key":"k","text":"t")").c_str()),
       "a report without its parts"},
      {std::string(kReportLimit + 1, ' '), "too long a report"},
  };
  for (const auto& row : kRows) {
    const auto got = ParseReport(row.line, kToken);
    ASSERT_FALSE(got.ok()) << row.line;
    EXPECT_EQ(got.error().what, row.what) << row.line.substr(0, 80);
  }
}

}  // namespace
}  // namespace nccl_tune::spank
