// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/conf_file.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace nccl_tune::nccl {
namespace {

constexpr NcclVersion kNew{2, 28, 9};
constexpr NcclVersion kOld{2, 22, 3};

// "NAME|VALUE@LINE ..." and the remarks as "LINE: WHAT".
std::string Show(const ConfFile& file) {
  std::string out;
  for (const auto& s : file.settings)
    out += (out.empty() ? "" : " ") + s.name + "|" + s.value + "@" + std::to_string(s.line);
  return out;
}

std::string Remarks(const ConfFile& file) {
  std::string out;
  for (const auto& r : file.remarks) out += (out.empty() ? "" : "; ") + std::to_string(r.line) + ": " + r.what;
  return out;
}

TEST(ParseConfFileTest, TakesLinesAsTheyStand) {
  const struct {
    std::string_view text;
    NcclVersion version;
    const char* settings;
  } rows[] = {
      {"", kNew, ""},
      {"\n\n", kNew, ""},
      {"NCCL_DEBUG=INFO", kNew, "NCCL_DEBUG|INFO@1"},
      {"NCCL_DEBUG=INFO\nNCCL_IB_HCA=^mlx5_0\n", kNew, "NCCL_DEBUG|INFO@1 NCCL_IB_HCA|^mlx5_0@2"},
      {"NCCL_SOCKET_IFNAME==eth0\n", kNew, "NCCL_SOCKET_IFNAME|=eth0@1"},
      {"# NCCL_DEBUG=INFO\nA=1\n", kNew, "A|1@2"},
      {"# NCCL_DEBUG=INFO\nA=1\n", kOld, "# NCCL_DEBUG|INFO@1 A|1@2"},
      {"# a comment\n", kOld, ""},
      {"UCX_NET_DEVICES=mlx5_0:1\n", kNew, "UCX_NET_DEVICES|mlx5_0:1@1"},
  };
  for (const auto& row : rows) {
    const auto got = ParseConfFile("/etc/nccl.conf", row.text, row.version);
    EXPECT_EQ(Show(got), row.settings) << row.text;
    EXPECT_EQ(Remarks(got), "") << row.text;
    EXPECT_EQ(got.path, "/etc/nccl.conf");
  }
}

TEST(ParseConfFileTest, RemarksOnWhatIsTakenOtherwiseThanItLooks) {
  const std::string long_value(2000, 'v');
  const std::string long_name(2000, 'N');
  const struct {
    std::string text;
    std::string settings;
    std::string remarks;
  } rows[] = {
      {"NCCL_X = 1\n", "NCCL_X | 1@1",
       "1: the name \"NCCL_X \" has blanks, which are not trimmed: it sets nothing useful"},
      {" NCCL_X=1\n", " NCCL_X|1@1",
       "1: the name \" NCCL_X\" has blanks, which are not trimmed: it sets nothing useful"},
      {"NCCL\tX=1\n", "NCCL\tX|1@1",
       "1: the name \"NCCL\\x09X\" has blanks, which are not trimmed: it sets nothing useful"},
      {"NCCL_X= 1\n", "NCCL_X| 1@1", "1: the value \" 1\" has blanks at its ends, which are not trimmed"},
      {"NCCL_X=1 \n", "NCCL_X|1 @1", "1: the value \"1 \" has blanks at its ends, which are not trimmed"},
      {"NCCL_X=1\r\n", "NCCL_X|1\r@1",
       "1: the value ends in a carriage return, which is not trimmed: save with Unix line ends"},
      {"NCCL_X=\"mlx5\"\n", "NCCL_X|\"mlx5\"@1", "1: the quotes belong to the value \"\"mlx5\"\": leave them out"},
      {"NCCL_X='1'\n", "NCCL_X|'1'@1", "1: the quotes belong to the value \"'1'\": leave them out"},
      {"NCCL_X=1 # why\n", "NCCL_X|1 # why@1", "1: what follows \"#\" belongs to the value \"1 # why\""},
      {"NCCL_X=\n", "NCCL_X|@1", "1: \"NCCL_X\" is set to nothing, which is not the same as unset"},
      {"export NCCL_X=1\n", "export NCCL_X|1@1", "1: \"export\" becomes part of the name: leave it out"},
      {" # NCCL_X=1\n", " # NCCL_X|1@1", "1: only a \"#\" at the very start makes a comment: it sets an odd name"},
      {"NCCL_DEBUG INFO\n", "", "1: no \"=\": the line is skipped"},
      {"=1\n", "", "1: no name before \"=\": it sets nothing"},
      {"A=1\nA=2\n", "A|1@1 A|2@2", "2: \"A\" stands above already, and the first counts"},
      {std::string("A=1\0B=2\n", 8), "A|1@1", "1: a zero byte ends the line early: this is no text file"},
      {std::string("\0\n", 2), "", "1: a zero byte ends the line early: this is no text file"},
      {"A=" + long_value + "\n", "A|" + std::string(1023, 'v') + "@1", "1: the value of \"A\" is cut after 1023 bytes"},
      {long_name + "=1\n", std::string(1023, 'N') + "|1@1", "1: the name is cut after 1023 bytes"},
  };
  for (const auto& row : rows) {
    const auto got = ParseConfFile("f", row.text, kNew);
    EXPECT_EQ(Show(got), row.settings) << row.text;
    EXPECT_EQ(Remarks(got), row.remarks) << row.text;
  }
}

std::string Show(const ConfPlaces& places) {
  std::string out;
  for (const auto& path : places.paths) out += (out.empty() ? "" : " ") + path;
  for (const auto& remark : places.remarks) out += " ! " + remark;
  return out;
}

TEST(FindConfPlacesTest, ByVariablesAndVersion) {
  const struct {
    Environment environment;
    NcclVersion version;
    const char* places;
  } rows[] = {
      {{}, kNew, "/etc/nccl.conf"},
      {{{"HOME", "/home/a"}}, kNew, "/home/a/.nccl.conf /etc/nccl.conf"},
      {{{"HOME", "/"}}, kNew, "/.nccl.conf /etc/nccl.conf"},
      {{{"HOME", "/home/a"}, {"NCCL_CONF_FILE", "/x"}}, kNew, "/x /etc/nccl.conf"},
      {{{"HOME", "/home/a"}, {"NCCL_CONF_FILE", ""}}, kNew, "/home/a/.nccl.conf /etc/nccl.conf"},
      {{{"NCCL_CONF_FILE", "/etc/nccl.conf"}}, kNew, "/etc/nccl.conf"},
      {{{"HOME", "/home/a"}, {"NCCL_CONF_FILE", "/x"}},
       kOld,
       "/home/a/.nccl.conf /etc/nccl.conf ! NCCL_CONF_FILE is not known before NCCL 2.23: \"/x\" is not read"},
      {{{"HOME", "/home/a"}, {"NCCL_CONF_FILE", "~/x"}},
       kNew,
       "/etc/nccl.conf ! NCCL_CONF_FILE \"~/x\": \"~\" is not expanded, so nothing is read"},
      {{{"HOME", "/home/a"}, {"NCCL_CONF_FILE", "x\n"}},
       kNew,
       "/etc/nccl.conf ! NCCL_CONF_FILE \"x\\x0a\" depends on the working directory: not looked at"},
      {{{"HOME", ""}}, kNew, "/etc/nccl.conf"},
      {{{"HOME", "a"}}, kNew, "/etc/nccl.conf ! HOME \"a\" is no absolute path: its .nccl.conf is not looked at"},
  };
  for (const auto& row : rows) EXPECT_EQ(Show(FindConfPlaces(row.environment, row.version)), row.places);
}

TEST(ParseConfFilesTest, ThoseThatAreThereInOrderOfPlaces) {
  const Environment environment = {{"HOME", "/home/a"}, {"NCCL_CONF_FILE", "/x"}};
  const auto places = FindConfPlaces(environment, kNew);
  const auto got =
      ParseConfFiles(places, {{"/etc/nccl.conf", "A=1\n"}, {"/x", "A=2\n"}, {"/home/a/.nccl.conf", ""}}, kNew);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].path, "/x");
  EXPECT_EQ(got[1].path, "/etc/nccl.conf");
  const auto absent = ParseConfFiles(places, {}, kNew);
  ASSERT_EQ(absent.size(), 1u) << "the site's file need not be there, a named one must";
  EXPECT_EQ(Remarks(absent[0]), "0: NCCL_CONF_FILE names it, but it cannot be read");
  EXPECT_TRUE(ParseConfFiles(FindConfPlaces({{"HOME", "/home/a"}}, kNew), {}, kNew).empty());
}

TEST(MergeSettingsTest, EnvironmentThenFilesAndTheFirstWins) {
  const std::vector<ConfFile> files = {ParseConfFile("/x", "A=file\nB=first\nB=second\nEMPTY=x\n", kNew),
                                       ParseConfFile("/etc/nccl.conf", "\nB=site\nC=site\n", kNew)};
  const auto got = MergeSettings({{"A", "own"}, {"EMPTY", ""}}, files);
  const struct {
    const char* name;
    const char* value;
    const char* origin;
    bool from_environment;
  } rows[] = {
      {"A", "own", "environment", true},
      {"EMPTY", "", "environment", true},
      {"B", "first", "/x:2", false},
      {"C", "site", "/etc/nccl.conf:3", false},
  };
  ASSERT_EQ(got.size(), 4u);
  for (const auto& row : rows) {
    const auto found = got.find(row.name);
    ASSERT_NE(found, got.end()) << row.name;
    EXPECT_EQ(found->second.value, row.value);
    EXPECT_EQ(found->second.Origin(), row.origin);
    EXPECT_EQ(found->second.FromEnvironment(), row.from_environment);
  }
  EXPECT_EQ(ValuesOf(got), (Environment{{"A", "own"}, {"B", "first"}, {"C", "site"}, {"EMPTY", ""}}));
  EXPECT_TRUE(MergeSettings({}, {}).empty());
}

}  // namespace
}  // namespace nccl_tune::nccl
