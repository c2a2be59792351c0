// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/facts/node.h"
#include "hw/capture_tree.h"
#include "hw/ip_facts.h"

namespace nccl_tune::hw {
namespace {

using Notes = std::vector<facts::Note>;

std::string Show(const Notes& notes) {
  std::string out;
  for (const auto& note : notes) out += (out.empty() ? "" : " | ") + note.where + ": " + note.what;
  return out;
}

std::string Show(const facts::Route& route) {
  return (route.destination ? route.destination->ToString() : "default") + " " + route.interface + " " +
         std::to_string(route.metric);
}

constexpr const char* kAddr = R"([
  {"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP"],"link_type":"loopback",
   "addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8,"scope":"host"}]},
  {},
  {"ifindex":4,"ifname":"bond0.5","flags":["NO-CARRIER"],"link_type":"ether","master":"br0",
   "linkinfo":{"info_kind":"vlan"},
   "addr_info":[{"family":"inet","local":"172.20.0.11","prefixlen":24,"scope":"global"},
                {"family":"inet6","local":"fe80::1","prefixlen":64,"scope":"link"}]},
  {"ifname":"bare"}])";

TEST(ParseIpAddrTest, TakesWhatIpPrints) {
  Notes notes;
  const auto got = ParseIpAddr(kAddr, &notes);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(Show(notes), "");
  ASSERT_EQ(got->size(), 3u);
  const auto& lo = got->at(0);
  EXPECT_EQ(lo.name, "lo");
  EXPECT_EQ(lo.ifindex, 1);
  EXPECT_EQ(lo.up, true);
  EXPECT_EQ(lo.link_type, "loopback");
  EXPECT_EQ(lo.kind, "");
  const auto& vlan = got->at(1);
  EXPECT_EQ(vlan.up, false);
  EXPECT_EQ(vlan.kind, "vlan");
  EXPECT_EQ(vlan.master, "br0");
  ASSERT_EQ(vlan.addresses.size(), 2u);
  EXPECT_EQ(vlan.addresses[0].prefix.ToString(), "172.20.0.11/24");
  EXPECT_FALSE(vlan.addresses[0].link_scope);
  EXPECT_EQ(vlan.addresses[1].prefix.ToString(), "fe80::1/64");
  EXPECT_TRUE(vlan.addresses[1].link_scope);
  const auto& bare = got->at(2);
  EXPECT_EQ(bare.ifindex, 0);
  EXPECT_EQ(bare.up, std::nullopt);
  EXPECT_EQ(bare.master, std::nullopt);
  EXPECT_TRUE(bare.addresses.empty());
}

TEST(ParseIpAddrTest, RefusesWhatIsNoSuchJson) {
  const struct {
    const char* text;
    const char* message;
  } rows[] = {
      {"", "not valid JSON"},
      {"[", "not valid JSON"},
      {"[{\"ifname\":\"eth0\"}] x", "not valid JSON: got \"[{\"ifname\":\"eth0\"}] x\""},
      {"eth0: <UP>", "not valid JSON"},
      {"[{\"ifname\":\"\xff\"}]", "not valid JSON"},
      {"{}", "not a JSON array: got \"{}\", expected what ip -j addr prints"},
      {"null", "not a JSON array: got \"null\""},
      {"7", "not a JSON array"},
      {"\"eth0\"", "not a JSON array"},
  };
  for (const auto& row : rows) {
    Notes notes;
    const auto got = ParseIpAddr(row.text, &notes);
    ASSERT_FALSE(got.ok()) << row.text;
    EXPECT_TRUE(got.error().ToString().starts_with(row.message)) << got.error().ToString();
  }
  Notes notes;
  EXPECT_EQ(ParseIpAddr(std::string(65, '[') + std::string(65, ']'), &notes).error().what,
            "JSON nested more than 64 deep");
}

TEST(ParseIpAddrTest, NotesEntriesThatMakeNoSense) {
  const struct {
    const char* entry;
    const char* note;
  } rows[] = {
      {R"({"ifindex":1})", "ip-addr.json: entry without ifname"},
      {R"({"ifname":""})", "ip-addr.json: entry without ifname"},
      {R"({"ifname":7})", "ip-addr.json: entry without ifname"},
      {R"("eth0")", "ip-addr.json: entry without ifname"},
      {R"(7)", "ip-addr.json: entry without ifname"},
      {R"([1])", "ip-addr.json: entry without ifname"},
      {R"({"ifname":"e","addr_info":[{"prefixlen":24}]})", "ip-addr.json: e: address without local or prefixlen"},
      {R"({"ifname":"e","addr_info":[{"local":"10.0.0.1"}]})", "ip-addr.json: e: address without local or prefixlen"},
      {R"({"ifname":"e","addr_info":[{"local":"10.0.0.1","prefixlen":"24"}]})",
       "ip-addr.json: e: address without local or prefixlen"},
      {R"({"ifname":"e","addr_info":[7]})", "ip-addr.json: e: address without local or prefixlen"},
      {R"({"ifname":"e","addr_info":"none"})", "ip-addr.json: e: address without local or prefixlen"},
      {R"({"ifname":"e","addr_info":[{"local":"10.0.0","prefixlen":24}]})",
       "ip-addr.json: e: not an IP address: got \"10.0.0\""},
      {R"({"ifname":"e","addr_info":[{"local":"","prefixlen":24}]})", "ip-addr.json: e: not an IP address"},
      {R"({"ifname":"e","addr_info":[{"local":"10.0.0.1","prefixlen":33}]})", "ip-addr.json: e: "},
      {R"({"ifname":"e","addr_info":[{"local":"10.0.0.1","prefixlen":-1}]})", "ip-addr.json: e: "},
      {R"({"ifname":"e","addr_info":[{"local":"fe80::1","prefixlen":129}]})", "ip-addr.json: e: "},
      {R"({"ifname":"e\u001b","addr_info":[{}]})", "ip-addr.json: e\\x1b: address without local or prefixlen"},
  };
  for (const auto& row : rows) {
    Notes notes;
    const auto got = ParseIpAddr("[" + std::string(row.entry) + R"(,{"ifname":"good"}])", &notes);
    ASSERT_TRUE(got.ok()) << row.entry;
    EXPECT_EQ(got->back().name, "good") << row.entry;
    ASSERT_EQ(notes.size(), 1u) << row.entry;
    EXPECT_TRUE(Show(notes).starts_with(row.note)) << Show(notes);
    if (got->size() == 2) {
      EXPECT_TRUE(got->front().addresses.empty()) << row.entry;
    }
  }
}

TEST(ParseIpAddrTest, OddValuesAreUnknown) {
  const struct {
    const char* entry;
    int ifindex;
    std::optional<bool> up;
  } rows[] = {
      {R"({"ifname":"e","ifindex":0})", 0, std::nullopt},
      {R"({"ifname":"e","ifindex":-3})", 0, std::nullopt},
      {R"({"ifname":"e","ifindex":4294967296})", 0, std::nullopt},
      {R"({"ifname":"e","ifindex":"2"})", 0, std::nullopt},
      {R"({"ifname":"e","ifindex":2147483647,"flags":[]})", 2147483647, false},
      {R"({"ifname":"e","flags":[1,null,"UP"]})", 0, true},
      {R"({"ifname":"e","flags":["LOWER_UP"]})", 0, false},
      {R"({"ifname":"e","flags":"UP","master":5,"linkinfo":[],"link_type":null})", 0, std::nullopt},
  };
  for (const auto& row : rows) {
    Notes notes;
    const auto got = ParseIpAddr("[" + std::string(row.entry) + "]", &notes);
    ASSERT_TRUE(got.ok()) << row.entry;
    EXPECT_EQ(got->at(0).ifindex, row.ifindex) << row.entry;
    EXPECT_EQ(got->at(0).up, row.up) << row.entry;
    EXPECT_EQ(got->at(0).master, std::nullopt) << row.entry;
    EXPECT_EQ(Show(notes), "") << row.entry;
  }
}

TEST(ParseIpRouteTest, TakesWhatIpPrints) {
  const struct {
    const char* entry;
    const char* route;
  } rows[] = {
      {R"({"dst":"default","gateway":"10.0.0.1","dev":"eno1","flags":[]})", "default eno1 0"},
      {R"({"dst":"default","dev":"wlan0","metric":600})", "default wlan0 600"},
      {R"({"dst":"10.0.0.0/24","dev":"eno1","metric":4294967295})", "10.0.0.0/24 eno1 4294967295"},
      {R"({"dst":"10.0.0.7","dev":"eno1"})", "10.0.0.7/32 eno1 0"},
      {R"({"dst":"10.0.0.7/24","dev":"eno1"})", "10.0.0.0/24 eno1 0"},
      {R"({"dst":"2001:db8::7","dev":"eno1"})", "2001:db8::7/128 eno1 0"},
      {R"({"dst":"fd00::/8","dev":"eno1","metric":-5})", "fd00::/8 eno1 0"},
      {R"({"dst":"10.0.0.0/8","dev":"eno1","metric":99999999999})", "10.0.0.0/8 eno1 4294967295"},
      {R"({"dst":"10.0.0.0/8","dev":"eno1","metric":"5"})", "10.0.0.0/8 eno1 0"},
  };
  for (const auto& row : rows) {
    Notes notes;
    const auto got = ParseIpRoute("[" + std::string(row.entry) + "]", &notes);
    ASSERT_TRUE(got.ok()) << row.entry;
    ASSERT_EQ(got->size(), 1u) << row.entry << Show(notes);
    EXPECT_EQ(Show(got->at(0)), row.route);
  }
}

TEST(ParseIpRouteTest, ARouteOverSeveralInterfacesIsOneEach) {
  Notes notes;
  const auto got = ParseIpRoute(
      R"([{"dst":"default","metric":5,"nexthops":[{"gateway":"10.0.0.1","dev":"eno1"},{"dev":"eno2"},{"weight":1},7]}])",
      &notes);
  ASSERT_TRUE(got.ok());
  ASSERT_EQ(got->size(), 2u);
  EXPECT_EQ(Show(got->at(0)), "default eno1 5");
  EXPECT_EQ(Show(got->at(1)), "default eno2 5");
  EXPECT_TRUE(notes.empty());
}

TEST(ParseIpRouteTest, NotesRoutesThatMakeNoSense) {
  const struct {
    const char* entry;
    const char* note;
  } rows[] = {
      {R"({"dst":"default"})", "ip-route.json: route without dev"},
      {R"({"dst":"default","dev":7})", "ip-route.json: route without dev"},
      {R"({})", "ip-route.json: route without dev"},
      {R"(7)", "ip-route.json: route without dev"},
      {R"({"dev":"eth0"})", "ip-route.json: not an IP address"},
      {R"({"dev":"eth0","dst":7})", "ip-route.json: not an IP address"},
      {R"({"dev":"eth0","dst":"host"})", "ip-route.json: not an IP address: got \"host\""},
      {R"({"dev":"eth0","dst":"10.0.0.0/"})", "ip-route.json: not a whole number"},
      {R"({"dev":"eth0","dst":"10.0.0.0/x"})", "ip-route.json: not a whole number: got \"x\""},
      {R"({"dev":"eth0","dst":"10.0.0.0/24/24"})", "ip-route.json: not a whole number"},
      {R"({"dev":"eth0","dst":"10.0.0.0/33"})", "ip-route.json: "},
      {R"({"dev":"eth0","dst":"10.0.0.0/99999999999999999999"})", "ip-route.json: number out of range"},
      {R"({"dev":"eth0","dst":"/24"})", "ip-route.json: not an IP address"},
  };
  for (const auto& row : rows) {
    Notes notes;
    const auto got = ParseIpRoute("[" + std::string(row.entry) + R"(,{"dst":"default","dev":"good"}])", &notes);
    ASSERT_TRUE(got.ok()) << row.entry;
    ASSERT_EQ(got->size(), 1u) << row.entry;
    ASSERT_EQ(notes.size(), 1u) << row.entry;
    EXPECT_TRUE(Show(notes).starts_with(row.note)) << Show(notes);
  }
  for (const char* text : {"", "{}", "default via 10.0.0.1 dev eno1", "null"}) {
    Notes notes;
    EXPECT_FALSE(ParseIpRoute(text, &notes).ok()) << text;
  }
}

TEST(ReadIpFilesTest, GoesOnWithoutAFile) {
  const struct {
    const char* addr;
    const char* route;
    const char* notes;
    std::size_t interfaces;
    std::size_t routes;
  } rows[] = {
      {R"([{"ifname":"e"}])", R"([{"dst":"default","dev":"e"}])", "", 1, 1},
      {nullptr, R"([{"dst":"default","dev":"e"}])", "ip-addr.json: No such file or directory", 0, 1},
      {R"([{"ifname":"e"}])", nullptr, "ip-route.json: No such file or directory", 1, 0},
      {nullptr, nullptr, "ip-addr.json: No such file or directory | ip-route.json: No such file or directory", 0, 0},
      {"{}", "[", "ip-addr.json: not a JSON array: \"{}\\x0a\" | ip-route.json: not valid JSON: \"[\\x0a\"", 0, 0},
  };
  for (const auto& row : rows) {
    Capture capture;
    if (row.addr != nullptr) capture.entries["ip-addr.json"] = CaptureFile{std::string(row.addr) + "\n"};
    if (row.route != nullptr) capture.entries["ip-route.json"] = CaptureFile{std::string(row.route) + "\n"};
    Notes notes;
    const auto got = ReadIpFiles(CaptureTree(capture), &notes);
    EXPECT_EQ(Show(notes), row.notes);
    EXPECT_EQ(got.interfaces.size(), row.interfaces);
    EXPECT_EQ(got.routes.size(), row.routes);
  }
}

TEST(WriteIpTest, IsReadBackToTheSame) {
  Notes notes;
  const auto interfaces = *ParseIpAddr(kAddr, &notes);
  const std::string addr = WriteIpAddr(interfaces);
  const auto again = ParseIpAddr(addr, &notes);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->size(), interfaces.size());
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    EXPECT_EQ(again->at(i).name, interfaces[i].name);
    EXPECT_EQ(again->at(i).ifindex, interfaces[i].ifindex);
    EXPECT_EQ(again->at(i).up, interfaces[i].up) << interfaces[i].name;
    EXPECT_EQ(again->at(i).kind, interfaces[i].kind);
    EXPECT_EQ(again->at(i).link_type, interfaces[i].link_type);
    EXPECT_EQ(again->at(i).master, interfaces[i].master);
    ASSERT_EQ(again->at(i).addresses.size(), interfaces[i].addresses.size());
    for (std::size_t k = 0; k < interfaces[i].addresses.size(); ++k) {
      EXPECT_EQ(again->at(i).addresses[k].prefix, interfaces[i].addresses[k].prefix);
      EXPECT_EQ(again->at(i).addresses[k].link_scope, interfaces[i].addresses[k].link_scope);
    }
  }
  EXPECT_EQ(WriteIpAddr(*again), addr);
  const auto routes =
      *ParseIpRoute(R"([{"dst":"default","dev":"a","metric":100},{"dst":"10.0.0.0/8","dev":"b"}])", &notes);
  const auto back = ParseIpRoute(WriteIpRoute(routes), &notes);
  ASSERT_TRUE(back.ok());
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ(Show(back->at(0)), "default a 100");
  EXPECT_EQ(Show(back->at(1)), "10.0.0.0/8 b 0");
  EXPECT_EQ(Show(notes), "");
}

}  // namespace
}  // namespace nccl_tune::hw
