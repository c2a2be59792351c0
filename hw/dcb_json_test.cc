// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/facts/node.h"
#include "hw/capture_tree.h"
#include "hw/dcb.h"

namespace nccl_tune::hw {
namespace {

const std::string kOff = R"({"prio_pfc":[false,false,false,false,false,false,false,false]})";
const std::string kThree = R"({"prio_pfc":[false,false,false,true,false,false,false,false]})";

std::string Show(const facts::Dcb& dcb) {
  std::string out;
  for (const int priority : dcb.LosslessPriorities()) out += std::to_string(priority) + " ";
  for (const auto& entry : dcb.dscp) out += std::to_string(entry.dscp) + ":" + std::to_string(entry.priority) + " ";
  return out;
}

std::string Parse(const std::string& pfc, const std::string& app) {
  const auto got = ParseDcbJson(pfc, app);
  return got.ok() ? Show(*got) : got.error().ToString();
}

TEST(ParseDcbJsonTest, Good) {
  const struct {
    std::string pfc;
    const char* app;
    const char* shown;
  } rows[] = {
      {R"({"pfc_cap":8,"macsec_bypass":false,"delay":0,"prio_pfc":[false,false,false,true,false,false,false,false]})",
       R"({"default_prio":[0],"dscp_prio":[[26,3]]})", "3 26:3 "},
      {kOff, "{}", ""},
      {kThree, "", "3 "},
      {kThree, R"({"dscp_prio":[]})", "3 "},
      {kThree, R"({"dscp_prio":[[63,7],[0,0],[26,3],[26,3],[26,4]]})", "3 0:0 26:3 26:4 63:7 "},
      {kThree, R"({"pcp_prio":[["3nd",3]],"ethtype_prio":[[2054,3]]})", "3 "},
      {R"({"prio_pfc":[true,true,true,true,true,true,true,true]})", "{}", "0 1 2 3 4 5 6 7 "},
  };
  for (const auto& row : rows) EXPECT_EQ(Parse(row.pfc, row.app), row.shown) << row.pfc << row.app;
}

TEST(ParseDcbJsonTest, Bad) {
  const std::string flags = ", expected 8 times true or false";
  const std::string pair = ", expected [0 to 63,0 to 7]";
  const struct {
    std::string pfc;
    std::string app;
    std::string message;
  } rows[] = {
      {"[]", "", "not a JSON object: got \"[]\", expected what dcb -j pfc show prints"},
      {"3", "", "not a JSON object: got \"3\", expected what dcb -j pfc show prints"},
      {"{}", "", "no prio_pfc: got \"null\"" + flags},
      {R"({"prio_pfc":8})", "", "no prio_pfc: got \"8\"" + flags},
      {R"({"prio_pfc":[]})", "", "no prio_pfc: got \"[]\"" + flags},
      {R"({"prio_pfc":[true]})", "", "no prio_pfc: got \"[true]\"" + flags},
      {R"({"prio_pfc":[0,0,0,1,0,0,0,0]})", "", "no prio_pfc: got \"[0,0,0,1,0,0,0,0]\"" + flags},
      {R"({"prio_pfc":{"0":false}})", "", "no prio_pfc: got \"{\"0\":false}\"" + flags},
      {kThree, "[]", "not a JSON object: got \"[]\", expected what dcb -j app show prints"},
      {kThree, R"({"dscp_prio":"26:3"})", "dscp_prio is no array: got \"\"26:3\"\", expected [[DSCP,priority],...]"},
      {kThree, R"({"dscp_prio":{"26":3}})",
       "dscp_prio is no array: got \"{\"26\":3}\", expected [[DSCP,priority],...]"},
      {kThree, R"({"dscp_prio":[26,3]})", "an odd entry in dscp_prio: got \"26\"" + pair},
      {kThree, R"({"dscp_prio":[[26]]})", "an odd entry in dscp_prio: got \"[26]\"" + pair},
      {kThree, R"({"dscp_prio":[[26,3,1]]})", "an odd entry in dscp_prio: got \"[26,3,1]\"" + pair},
      {kThree, R"({"dscp_prio":[[64,3]]})", "an odd entry in dscp_prio: got \"[64,3]\"" + pair},
      {kThree, R"({"dscp_prio":[[26,8]]})", "an odd entry in dscp_prio: got \"[26,8]\"" + pair},
      {kThree, R"({"dscp_prio":[[-1,3]]})", "an odd entry in dscp_prio: got \"[-1,3]\"" + pair},
      {kThree, R"({"dscp_prio":[[26.0,3]]})", "an odd entry in dscp_prio: got \"[26.0,3]\"" + pair},
      {kThree, R"({"dscp_prio":[["AF31",3]]})", "an odd entry in dscp_prio: got \"[\"AF31\",3]\"" + pair},
      {kThree, R"({"dscp_prio":[[26,3],null]})", "an odd entry in dscp_prio: got \"null\"" + pair},
      {kThree, R"({"dscp_prio":[[99999999999999999999,3]]})", "an odd entry in dscp_prio: got \"[1e+20,3]\"" + pair},
  };
  for (const auto& row : rows) EXPECT_EQ(Parse(row.pfc, row.app), row.message) << row.pfc << row.app;
  for (const char* text : {"", "dcb: no such device", "{\"prio_pfc\":[", "{}{}"}) {
    EXPECT_FALSE(ParseDcbJson(text, "").ok()) << text;
    EXPECT_FALSE(ParseDcbJson(kThree, std::string("x") + text).ok()) << text;
  }
}

TEST(WriteDcbTest, IsReadBack) {
  for (const int pfc : {0, 1, 8, 128, 255}) {
    facts::Dcb dcb;
    dcb.pfc = static_cast<std::uint8_t>(pfc);
    EXPECT_EQ(Parse(WriteDcbPfc(dcb), WriteDcbApp(dcb)), Show(dcb));
    dcb.dscp = {{.dscp = 0, .priority = 0}, {.dscp = 26, .priority = 3}, {.dscp = 63, .priority = 7}};
    EXPECT_EQ(Parse(WriteDcbPfc(dcb), WriteDcbApp(dcb)), Show(dcb));
  }
}

std::string Ask(const DcbSource& source, const char* interface) {
  std::vector<facts::Note> notes;
  const auto got = source(interface, &notes);
  EXPECT_TRUE(notes.empty());
  return got ? Show(*got) : "none";
}

TEST(DcbFilesTest, OneBrokenInterfaceCostsOnlyItself) {
  Capture capture;
  const auto put = [&](const char* path, const std::string& text) { capture.entries[path] = CaptureFile{text}; };
  put("dcb/good/pfc.json", kThree);
  put("dcb/good/app.json", R"({"dscp_prio":[[26,3]]})");
  put("dcb/noapp/pfc.json", kThree);
  put("dcb/nopfc/app.json", R"({"dscp_prio":[[26,3]]})");
  put("dcb/odd/pfc.json", "[]");
  put("dcb/oddapp/pfc.json", kThree);
  put("dcb/oddapp/app.json", "[]");
  put("dcb/file", "x");
  capture.entries["dcb/denied/pfc.json"] = CaptureFailure{"EACCES"};
  std::vector<facts::Note> notes;
  const DcbSource source = DcbFiles(CaptureTree(capture), &notes);
  EXPECT_EQ(Ask(source, "good"), "3 26:3 ");
  EXPECT_EQ(Ask(source, "noapp"), "3 ");
  for (const char* name : {"nopfc", "odd", "oddapp", "file", "denied", "", "../good", "good/"})
    EXPECT_EQ(Ask(source, name), "none") << name;
  std::string where;
  for (const auto& note : notes) where += note.where + " ";
  EXPECT_EQ(where, "dcb/denied/pfc.json dcb/odd dcb/oddapp ");
  notes.clear();
  EXPECT_EQ(Ask(DcbFiles(CaptureTree(Capture{}), &notes), "good"), "none");
  EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace nccl_tune::hw
