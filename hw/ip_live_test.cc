// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/facts/node.h"
#include "hw/capture_tree.h"
#include "hw/ip_facts.h"

namespace nccl_tune::hw {
namespace {

using Notes = std::vector<facts::Note>;

const std::string kHeader = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

std::string Show(const std::vector<facts::Route>& routes) {
  std::string out;
  for (const auto& r : routes) {
    out += (out.empty() ? "" : " | ") + (r.destination ? r.destination->ToString() : "default") + " " + r.interface +
           " " + std::to_string(r.metric);
  }
  return out;
}

// procfs prints the words in the machine's byte order; these rows are of a little-endian one, as all of ours are.
TEST(ParseProcRouteTest, Good) {
  const struct {
    const char* rows;
    const char* routes;
  } rows[] = {
      {"", ""},
      {"eno1\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n", "default eno1 100"},
      {"eno1\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n", "10.0.0.0/24 eno1 0"},
      {"e\t0700000A\t0\t5\t0\t0\t4294967295\tFFFFFFFF\t0\t0\t0   \n", "10.0.0.7/32 e 4294967295"},
      {"e\t00000000\t0\t1\t0\t0\t0\t00000080\t0\t0\t0\n", "0.0.0.0/1 e 0"},
      {"e\t0105000A\t0\t1\t0\t0\t0\t0000FFFF\t0\t0\t0\n", "10.0.0.0/16 e 0"},
      {"a\t00000000\t0\t3\t0\t0\t0\t00000000\t0\t0\t0\n\nb\t000018AC\t0\t1\t0\t0\t7\t0000F8FF",
       "default a 0 | 172.24.0.0/13 b 7"},
  };
  for (const auto& row : rows) {
    Notes notes;
    EXPECT_EQ(Show(ParseProcRoute(kHeader + row.rows, &notes)), row.routes);
    EXPECT_TRUE(notes.empty()) << row.rows;
  }
  Notes notes;
  EXPECT_TRUE(ParseProcRoute("", &notes).empty());
  EXPECT_TRUE(notes.empty());
}

TEST(ParseProcRouteTest, BadRowsAreNotedAndTheRestIsTaken) {
  const struct {
    const char* row;
    const char* note;
  } rows[] = {
      {"eno1", "row too short"},
      {"eno1 00000000 0100000A 0003 0 0 100", "row too short"},
      {"eno1 0000000G 0100000A 0003 0 0 100 00000000",
       "not a whole number: got \"0000000G\", expected hexadecimal digits"},
      {"eno1 123456789 0 3 0 0 100 00000000", "number out of range: got \"123456789\""},
      {"eno1 00000000 0 3 0 0 -1 00000000", "not a whole number: got \"-1\", expected decimal digits"},
      {"eno1 00000000 0 3 0 0 99999999999 00000000", "number out of range"},
      {"eno1 00000000 0 3 0 0 100 0x000000", "not a whole number: got \"0x000000\""},
      {"eno1 00000000 0 3 0 0 100 mask", "not a whole number: got \"mask\""},
      {"eno1 0000000A 0 3 0 0 100 00FF00FF", "not a network mask: got \"00FF00FF\""},
      {"eno1 0000000A 0 3 0 0 100 FF000000", "not a network mask: got \"FF000000\""},
  };
  for (const auto& row : rows) {
    Notes notes;
    const auto got = ParseProcRoute(kHeader + row.row + "\ngood 00000000 0 3 0 0 5 00000000\n", &notes);
    EXPECT_EQ(Show(got), "default good 5") << row.row;
    ASSERT_EQ(notes.size(), 1u) << row.row;
    EXPECT_EQ(notes[0].where, "proc/net/route");
    EXPECT_TRUE(notes[0].what.starts_with(row.note)) << notes[0].what;
  }
}

const std::string kZeros(32, '0');

TEST(ParseProcIpv6RouteTest, Good) {
  const std::string rest = " " + kZeros + " 00 " + kZeros + " ";
  const struct {
    std::string rows;
    const char* routes;
  } rows[] = {
      {"", ""},
      {kZeros + " 00" + rest + "00000400 00000001 00000000 00450003     eno1\n", "default eno1 1024"},
      {"20010db8000000000000000000000000 40" + rest + "00000100 1 0 1 eno1\n", "2001:db8::/64 eno1 256"},
      {"fe800000000000000000000000000001 80" + rest + "00000000 1 0 80200001 eno1\n", "fe80::1/128 eno1 0"},
      {kZeros + " 00" + rest + "ffffffff 1 0 00200200       lo\n", ""},
      {kZeros + " 00" + rest + "ffffffff 1 0 00200200 lo\n" + kZeros + " 00" + rest + "00000001 1 0 3 b",
       "default b 1"},
  };
  for (const auto& row : rows) {
    Notes notes;
    EXPECT_EQ(Show(ParseProcIpv6Route(row.rows, &notes)), row.routes) << row.rows;
    EXPECT_TRUE(notes.empty()) << row.rows;
  }
}

TEST(ParseProcIpv6RouteTest, BadRowsAreNotedAndTheRestIsTaken) {
  const std::string rest = " " + kZeros + " 00 " + kZeros + " ";
  const std::string good = kZeros + " 00" + rest + "00000005 1 0 3 good\n";
  const struct {
    std::string row;
    const char* note;
  } rows[] = {
      {"x", "row too short"},
      {kZeros + " 00" + rest + "00000400 1 0 3", "row too short"},
      {kZeros + "0 00" + rest + "00000400 1 0 3 e", "not a GID"},
      {kZeros.substr(1) + " 00" + rest + "00000400 1 0 3 e", "not a GID"},
      {"g" + kZeros.substr(1) + " 00" + rest + "00000400 1 0 3 e", "not a GID"},
      {kZeros + " 81" + rest + "00000400 1 0 3 e", ""},
      {kZeros + " zz" + rest + "00000400 1 0 3 e", "not a whole number: got \"zz\", expected hexadecimal digits"},
      {kZeros + " -1" + rest + "00000400 1 0 3 e", ""},
      {kZeros + " 00" + rest + "metric 1 0 3 e", "not a whole number: got \"metric\""},
      {kZeros + " 00" + rest + "fffffffff 1 0 3 e", "number out of range"},
      {std::string(5000, 'a') + " 00" + rest + "00000400 1 0 3 e", "not a GID"},
  };
  for (const auto& row : rows) {
    Notes notes;
    EXPECT_EQ(Show(ParseProcIpv6Route(row.row + "\n" + good, &notes)), "default good 5") << row.row;
    ASSERT_EQ(notes.size(), 1u) << row.row;
    EXPECT_EQ(notes[0].where, "proc/net/ipv6_route");
    EXPECT_TRUE(notes[0].what.starts_with(row.note)) << notes[0].what;
  }
}

// The addresses are this machine's, whatever it is; the routes are the tree's.
TEST(ReadLiveIpTest, TakesRoutesOfTheTreeAndNotesABadTable) {
  Capture capture;
  capture.entries["proc/net/route"] = CaptureFile{kHeader + "eno1 00000000 0100000A 0003 0 0 100 00000000 0 0 0\n"};
  capture.entries["proc/net/ipv6_route"] = CaptureFailure{"EACCES"};
  Notes notes;
  const auto got = ReadLiveIp(CaptureTree(capture), &notes);
  EXPECT_EQ(Show(got.routes), "default eno1 100");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].where, "proc/net/ipv6_route");
  EXPECT_EQ(notes[0].what, "EACCES");
  for (const auto& interface : got.interfaces) {
    EXPECT_FALSE(interface.name.empty());
    EXPECT_GT(interface.ifindex, 0) << interface.name;
    EXPECT_TRUE(interface.up.has_value()) << interface.name;
    EXPECT_TRUE(std::all_of(interface.addresses.begin(), interface.addresses.end(), [](const auto& a) {
      return a.prefix.length > 0 && a.prefix.length <= 128;
    })) << interface.name;
  }
  Notes none;
  Capture empty;
  EXPECT_TRUE(ReadLiveIp(CaptureTree(empty), &none).routes.empty());
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace nccl_tune::hw
