// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/name_list.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace nccl_tune::nccl {
namespace {

constexpr NcclVersion kV228{2, 28, 9};
constexpr NcclVersion kV230{2, 30, 7};

std::string Selected(const NameList& list) {
  std::string out;
  for (const char* name : {"mlx5_0", "mlx5_2", "mlx5_20", "mlx5_bond_0"}) {
    if (list.Matches(name, 1)) out += (out.empty() ? "" : " ") + std::string(name);
  }
  return out;
}

TEST(NameListTest, VectorsOfTheGrammar) {
  const struct {
    const char* value;
    const char* selected;
  } rows[] = {
      {"", "mlx5_0 mlx5_2 mlx5_20 mlx5_bond_0"},
      {"mlx5_2", "mlx5_2 mlx5_20"},
      {"=mlx5_2", "mlx5_2"},
      {"^mlx5_2", "mlx5_0 mlx5_bond_0"},
      {"^=mlx5_2", "mlx5_0 mlx5_20 mlx5_bond_0"},
      {"=mlx5_2:1", "mlx5_2"},
      {"=mlx5_2:2", ""},
      {"mlx5_2:0", ""},
      {"=mlx5_0,=mlx5_2", "mlx5_0"},
      {"^=mlx5_0,^=mlx5_2", "mlx5_2 mlx5_20 mlx5_bond_0"},
      {"=^mlx5_2", ""},
      {"=mlx5_0, mlx5_2", "mlx5_0"},
      {"^", ""},
  };
  for (const NcclVersion version : {NcclVersion{2, 18, 6}, kV228, kV230, NcclVersion{2, 32, 3}}) {
    for (const auto& row : rows) EXPECT_EQ(Selected(ParseHcaList(row.value, version)), row.selected) << row.value;
  }
}

TEST(NameListTest, OddValues) {
  const struct {
    const char* value;
    const char* selected;
  } rows[] = {
      {"mlx5", "mlx5_0 mlx5_2 mlx5_20 mlx5_bond_0"},
      {"=", "mlx5_0 mlx5_2 mlx5_20 mlx5_bond_0"},
      {"^=", ""},
      {",", "mlx5_0 mlx5_2 mlx5_20 mlx5_bond_0"},
      {":1", "mlx5_0 mlx5_2 mlx5_20 mlx5_bond_0"},
      {"^,", ""},
      {"=,,mlx5_0,,", "mlx5_0"},
      {"=mlx5_0,:1,mlx5_2", "mlx5_0 mlx5_2"},
      {"^^mlx5_0", "mlx5_0 mlx5_2 mlx5_20 mlx5_bond_0"},
      {"==mlx5_0", ""},
      {"=mlx5_0 ", ""},
      {" =mlx5_0", ""},
      {"=MLX5_0", ""},
      {"=mlx5_0:x", ""},
      {"=mlx5_0: 1", "mlx5_0"},
      {"=mlx5_0:1x", "mlx5_0"},
      {"=mlx5_0:01", "mlx5_0"},
      {"=mlx5_0:0x1", ""},
      {"=mlx5_0:99999999999", ""},
      {"=mlx5_0:-1", "mlx5_0"},
      {"=mlx5_0;mlx5_2", ""},
      {"=mlx5_0\n", ""},
      {"^=mlx5_0:2", "mlx5_0 mlx5_2 mlx5_20 mlx5_bond_0"},
  };
  for (const auto& row : rows) EXPECT_EQ(Selected(ParseHcaList(row.value, kV228)), row.selected) << row.value;
}

TEST(NameListTest, RailsAndEmptyPortsByVersion) {
  const NameList list = ParseHcaList("=mlx5_0::0:1,mlx5_2:1:2,mlx5_0:1:7:7", kV230);
  ASSERT_EQ(list.entries.size(), 3u);
  const NameListEntry* first = list.Find("mlx5_0", 1);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->port, kAnyNumber);
  EXPECT_EQ(first->rail, 0);
  EXPECT_EQ(first->plane, 1);
  EXPECT_EQ(list.Find("mlx5_2", 1)->rail, 2);
  EXPECT_EQ(list.Find("mlx5_2", 1)->plane, kAnyNumber);
  EXPECT_EQ(list.Find("mlx5_2", 2), nullptr);
  // Before rails the parser took all behind the first colon for the port.
  EXPECT_EQ(Selected(ParseHcaList("=mlx5_0:", kV228)), "");
  EXPECT_EQ(Selected(ParseHcaList("=mlx5_0:", kV230)), "mlx5_0");
  EXPECT_EQ(Selected(ParseHcaList("=mlx5_0::0:1", kV228)), "");
  EXPECT_EQ(Selected(ParseHcaList("=mlx5_0:1:0:1", kV228)), "mlx5_0");
}

TEST(NameListTest, KeepsSoManyEntries) {
  std::string value = "=a0";
  for (int i = 1; i < 40; ++i) value += ",a" + std::to_string(i);
  const NameList hcas = ParseHcaList(value, kV228);
  EXPECT_EQ(hcas.entries.size(), 32u);
  EXPECT_EQ(hcas.dropped, 8u);
  EXPECT_TRUE(hcas.Matches("a31", 1));
  EXPECT_FALSE(hcas.Matches("a32", 1));
  const auto interfaces = ParseInterfaceList(value, kV228);
  ASSERT_TRUE(interfaces.has_value());
  EXPECT_EQ(interfaces->dropped, 24u);
  EXPECT_TRUE(interfaces->Matches("a15"));
  EXPECT_FALSE(interfaces->Matches("a16"));
}

TEST(NameListTest, ShortInterfaceListsAreUnset) {
  for (const char* text : {"", "^", "=", "e", ","}) EXPECT_FALSE(ParseInterfaceList(text, kV228).has_value()) << text;
  EXPECT_FALSE(ParseInterfaceList("^=", kV228)->Matches("eth0"));
  EXPECT_TRUE(ParseInterfaceList("=,", kV228)->Matches("lo"));
  // An interface has no port, so any port in an entry fits: eth0:1 is eth0.
  EXPECT_TRUE(ParseInterfaceList("=eth0:1", kV228)->Matches("eth0"));
  EXPECT_FALSE(ParseInterfaceList("=eth0:1", kV228)->Matches("eth0:1"));
}

TEST(FormatExactListTest, Writes) {
  EXPECT_EQ(*FormatExactList({{"a", 1}, {"b", 1}}), "=a:1,b:1");
  EXPECT_EQ(*FormatExactList({{"eth0", std::nullopt}}), "=eth0");
  EXPECT_EQ(*FormatExactList({{"rocep1s0f1", 255}, {"enx02.1_a-b", std::nullopt}}), "=rocep1s0f1:255,enx02.1_a-b");
  EXPECT_EQ(*FormatExactList({{"a^b=c", 2}}), "=a^b=c:2");
  EXPECT_TRUE(FormatExactList({{std::string(63, 'x'), 1}}).ok());
}

TEST(FormatExactListTest, ReadsBackAsWritten) {
  const std::vector<NamedPort> ports = {{"mlx5_2", 1}, {"mlx5_bond_0", 2}};
  for (const NcclVersion version : {kV228, kV230}) {
    const NameList list = ParseHcaList(*FormatExactList(ports), version);
    EXPECT_TRUE(list.Matches("mlx5_2", 1));
    EXPECT_FALSE(list.Matches("mlx5_2", 2));
    EXPECT_FALSE(list.Matches("mlx5_20", 1));
    EXPECT_TRUE(list.Matches("mlx5_bond_0", 2));
  }
}

TEST(FormatExactListTest, RefusesNamesThatNcclWouldMisread) {
  const std::string prefix = "name cannot stand in a list of NCCL: ";
  const struct {
    std::string name;
    const char* what;
  } rows[] = {
      {"", "it is empty"},
      {std::string(64, 'x'), "it has more than 63 characters"},
      {std::string(200, 'x'), "it has more than 63 characters"},
      {"^a", "it begins with a symbol of the list"},
      {"=a", "it begins with a symbol of the list"},
      {"a,b", "it contains a separator"},
      {",", "it contains a separator"},
      {"eth0:1", "it contains a separator"},
      {"a;b", "it contains a separator"},
      {";", "it contains a separator"},
      {"a b", "it contains a blank"},
      {" a", "it contains a blank"},
      {"a ", "it contains a blank"},
      {"a\n", "it contains a control character"},
      {"a\tb", "it contains a control character"},
      {"a\x7f", "it contains a control character"},
      {std::string("a\0b", 3), "it contains a control character"},
      {"\x1b[31m", "it contains a control character"},
      {"a\xc3\xa4", "it is not ASCII"},
      {"\xff", "it is not ASCII"},
  };
  for (const auto& row : rows) {
    const auto got = FormatExactList({{"good", 1}, {row.name, 1}});
    ASSERT_FALSE(got.ok()) << row.name;
    EXPECT_EQ(got.error().what, prefix + row.what);
    EXPECT_EQ(got.error().seen, row.name);
  }
}

TEST(FormatExactListTest, RefusesPortsAndLengths) {
  for (const int port : {0, -1, 256, 65536}) {
    const auto got = FormatExactList({{"a", port}});
    ASSERT_FALSE(got.ok()) << port;
    EXPECT_EQ(got.error().what, "no port of a device");
    EXPECT_EQ(got.error().where, "a");
  }
  EXPECT_EQ(FormatExactList({}).error().ToString(), "an empty list would select everything. Leave the variable unset.");
  const std::vector<NamedPort> many(33, NamedPort{"a", 1});
  EXPECT_EQ(FormatExactList(many).error().ToString(), "more names than NCCL keeps: got \"33\", expected at most 32");
  EXPECT_FALSE(FormatExactList(std::vector<NamedPort>(17, NamedPort{"a", std::nullopt}), kInterfaceListLimit).ok());
}

}  // namespace
}  // namespace nccl_tune::nccl
