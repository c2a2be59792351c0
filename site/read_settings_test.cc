// SPDX-License-Identifier: Apache-2.0
#include "site/read_settings.h"

#include <gtest/gtest.h>

#include <string>

#include "base/result.h"
#include "core/policy/site_policy.h"
#include "site/document.h"
#include "site/section.h"

namespace nccl_tune::site {
namespace {

using Reader = void (*)(const Entry&, policy::SitePolicy*, Problems*);

std::string Read(Reader read, const std::string& text, policy::SitePolicy* out, std::string* notes = nullptr) {
  const auto document = ParseDocument("k = " + text, "f");
  if (!document.ok()) return document.error().ToString();
  Problems problems("f");
  const Entry root{.value = &*document, .key = "", .line = 1};
  read(root.Under(document->members[0]), out, &problems);
  std::string all;
  for (const auto& error : problems.errors()) all += (all.empty() ? "" : "\n") + error.ToString();
  for (const auto& note : problems.notes()) {
    if (notes != nullptr) *notes += note.where + ": " + note.what;
  }
  return all;
}

TEST(ReadSettingsTest, Words) {
  policy::SitePolicy out;
  EXPECT_EQ(Read(&ReadMode, "\"off\"", &out), "");
  EXPECT_TRUE(out.IsOff());
  EXPECT_EQ(Read(&ReadMode, "\"dry-run\"", &out), "");
  EXPECT_EQ(out.mode->value, policy::SiteMode::kDryRun);
  EXPECT_EQ(Read(&ReadGidIndex, "\"auto\"", &out), "");
  EXPECT_EQ(out.GidIndex(), policy::GidIndexRule::kAuto);
  const struct {
    Reader read;
    const char* text;
    const char* message;
  } kRows[] = {
      {&ReadMode, "\"\"", "f:1: k: no such value: got \"\", expected off, auto, explain, dry-run"},
      {&ReadMode, "\"of\"",
       "f:1: k: no such value: got \"of\", expected off, auto, explain, dry-run. Did you mean off?"},
      {&ReadMode, "\"OFF\"", "f:1: k: no such value: got \"OFF\", expected off, auto, explain, dry-run"},
      {&ReadMode, "\"on\"", "f:1: k: no such value: got \"on\", expected off, auto, explain, dry-run"},
      {&ReadMode, "\"dryrun\"",
       "f:1: k: no such value: got \"dryrun\", expected off, auto, explain, dry-run. Did you mean dry-run?"},
      {&ReadMode, "\"auto,explain\"",
       "f:1: k: no such value: got \"auto,explain\", expected off, auto, explain, dry-run"},
      {&ReadMode, "false", "f:1: k: wrong type: got \"a boolean\", expected off, auto, explain, dry-run, in quotes"},
      {&ReadMode, "0", "f:1: k: wrong type: got \"0\", expected off, auto, explain, dry-run, in quotes"},
      {&ReadMode, "[\"off\"]", "f:1: k: wrong type: got \"a list\", expected off, auto, explain, dry-run, in quotes"},
      {&ReadGidIndex, "3", "f:1: k: wrong type: got \"3\", expected pin, auto, in quotes"},
      {&ReadGidIndex, "\"3\"", "f:1: k: no such value: got \"3\", expected pin, auto"},
      {&ReadGidIndex, "\"pinned\"", "f:1: k: no such value: got \"pinned\", expected pin, auto"},
      {&ReadGidIndex, "\"pni\"", "f:1: k: no such value: got \"pni\", expected pin, auto. Did you mean pin?"},
  };
  for (const auto& row : kRows) EXPECT_EQ(Read(row.read, row.text, &out), row.message);
}

TEST(ReadSettingsTest, TrafficClass) {
  policy::SitePolicy out;
  EXPECT_EQ(Read(&ReadTrafficClass, "{ tc = 106, sl = 3, fifo_tc = 0 }", &out), "");
  EXPECT_EQ(out.tc->value, 106);
  EXPECT_EQ(out.sl->value, 3);
  EXPECT_EQ(out.fifo_tc->value, 0);
  const struct {
    const char* text;
    const char* message;
  } kRows[] = {
      {"{ tc = 256 }",
       "f:1: k.tc: number out of range: got \"256\", expected 0 to 255. It is DSCP x 4, so DSCP 26 is 104 or 106"},
      {"{ tc = -1 }",
       "f:1: k.tc: number out of range: got \"-1\", expected 0 to 255. It is DSCP x 4, so DSCP 26 is 104 or 106"},
      {"{ tc = \"106\" }", "f:1: k.tc: wrong type: got \"106\", expected a whole number without quotes"},
      {"{ tc = 106.0 }", "f:1: k.tc: wrong type: got \"106\", expected a whole number without quotes"},
      {"{ sl = 16 }", "f:1: k.sl: number out of range: got \"16\", expected 0 to 15"},
      {"{ sl = -1 }", "f:1: k.sl: number out of range: got \"-1\", expected 0 to 15"},
      {"{ fifo_tc = 9223372036854775807 }",
       "f:1: k.fifo_tc: number out of range: got \"9223372036854775807\", expected 0 to 255. It is DSCP x 4, so DSCP "
       "26 "
       "is 104 or 106"},
      {"{ dscp = 26 }", "f:1: k: unknown key: got \"dscp\", expected tc, sl, fifo_tc"},
      {"106", "f:1: k: wrong type: got \"106\", expected a table"},
  };
  for (const auto& row : kRows) EXPECT_EQ(Read(&ReadTrafficClass, row.text, &out), row.message);
}

TEST(ReadSettingsTest, AllowAndDeny) {
  policy::SitePolicy out;
  EXPECT_EQ(Read(&ReadVariables, "{ allow = [\"NCCL_*\", \"GLOO_SOCKET_IFNAME\"], deny = [\"*_IFNAME\"] }", &out), "");
  EXPECT_EQ(out.allow->size(), 2U);
  EXPECT_EQ(out.deny->front().value, "*_IFNAME");
  constexpr const char* kExpected = "expected a name such as NCCL_IB_TC or a pattern such as NCCL_*";
  const struct {
    const char* text;
    std::string message;
  } kRows[] = {
      {"{ allow = \"NCCL_*\" }", "f:1: k.allow: wrong type: got \"NCCL_*\", expected a list in brackets"},
      {"{ allow = [1] }", "f:1: k.allow[1]: wrong type: got \"1\", expected a text in quotes"},
      {"{ allow = [\"\"] }", "f:1: k.allow[1]: empty name: got \"\", expected a name; * is any text, ? any character"},
      {"{ allow = [\"PATH\"] }",
       std::string("f:1: k.allow[1]: matches no variable that can be set: got \"PATH\", ") + kExpected},
      {"{ deny = [\"LD_*\"] }",
       std::string("f:1: k.deny[1]: matches no variable that can be set: got \"LD_*\", ") + kExpected},
      {"{ deny = [\"nccl_*\"] }",
       std::string("f:1: k.deny[1]: matches no variable that can be set: got \"nccl_*\", ") + kExpected},
      {"{ deny = [\"GLOO_SOCKET_IFNAM\"] }",
       std::string("f:1: k.deny[1]: matches no variable that can be set: got \"GLOO_SOCKET_IFNAM\", ") + kExpected +
           ". Did you mean GLOO_SOCKET_IFNAME?"},
      {"{ deny = [\"NCCL_IB_TC,NCCL_IB_SL\"] }",
       "f:1: k.deny[1]: several names in one text: got \"NCCL_IB_TC,NCCL_IB_SL\", expected one text a name"},
      {"{ forbid = [] }", "f:1: k: unknown key: got \"forbid\", expected allow, deny"},
  };
  for (const auto& row : kRows) EXPECT_EQ(Read(&ReadVariables, row.text, &out), row.message);
}

TEST(ReadSettingsTest, Set) {
  policy::SitePolicy out;
  std::string notes;
  EXPECT_EQ(
      Read(&ReadSet, "{ NCCL_IB_TIMEOUT = 22, NCCL_NET = \"IB\", UCX_NET_DEVICES = \"mlx5_0:1,eth0\" }", &out, &notes),
      "");
  EXPECT_EQ(out.set.at("NCCL_IB_TIMEOUT").value, "22");
  EXPECT_EQ(out.set.at("NCCL_NET").value, "IB");
  EXPECT_EQ(out.set.at("NCCL_NET").origin.ToString(), "site policy, line 1: k.NCCL_NET");
  EXPECT_EQ(notes, "");
  EXPECT_EQ(Read(&ReadSet, "{ NCCL_IB_HAC = \"=a:1\" }", &out, &notes), "");
  EXPECT_EQ(notes,
            "f:1: k.NCCL_IB_HAC: not a variable that we know, so its value is not checked; Did you mean NCCL_IB_HCA?");
  EXPECT_EQ(out.set.count("NCCL_IB_HAC"), 1U);
}

TEST(ReadSettingsTest, BadSet) {
  constexpr const char* kName = "expected NCCL_ and capitals, or one of docs/site-policy.md";
  const std::string kLong(1024, 'a');
  const struct {
    std::string text;
    std::string message;
  } kRows[] = {
      {"[]", "f:1: k: wrong type: got \"a list\", expected a table"},
      {"{ LD_PRELOAD = \"/x.so\" }",
       std::string("f:1: k.LD_PRELOAD: not a variable that can be set: got \"LD_PRELOAD\", ") + kName},
      {"{ PATH = \"/x\" }", std::string("f:1: k.PATH: not a variable that can be set: got \"PATH\", ") + kName},
      {"{ nccl_ib_tc = \"1\" }",
       std::string("f:1: k.nccl_ib_tc: not a variable that can be set: got \"nccl_ib_tc\", ") + kName},
      {"{ NCCL_ = \"1\" }", std::string("f:1: k.NCCL_: not a variable that can be set: got \"NCCL_\", ") + kName},
      {"{ \"NCCL_A B\" = \"1\" }",
       std::string("f:1: k.NCCL_A B: not a variable that can be set: got \"NCCL_A B\", ") + kName},
      {"{ \"NCCL_A=B\" = \"1\" }",
       std::string("f:1: k.NCCL_A=B: not a variable that can be set: got \"NCCL_A=B\", ") + kName},
      {"{ \"\" = \"1\" }", std::string("f:1: k.: not a variable that can be set: got \"\", ") + kName},
      {"{ GLOO_SOCKET_IFNAM = \"eth0\" }",
       std::string("f:1: k.GLOO_SOCKET_IFNAM: not a variable that can be set: got \"GLOO_SOCKET_IFNAM\", ") + kName +
           ". Did you mean GLOO_SOCKET_IFNAME?"},
      {"{ NCCL_TUNE = \"off\" }",
       "f:1: k.NCCL_TUNE: a variable of ours, which cannot be set: got \"NCCL_TUNE\", expected another NCCL_ "
       "name"},
      {"{ NCCL_TUNE_PLAN = \"{}\" }",
       "f:1: k.NCCL_TUNE_PLAN: a variable of ours, which cannot be set: got \"NCCL_TUNE_PLAN\", expected another "
       "NCCL_ name"},
      {"{ NCCL_IB_TC = true }",
       "f:1: k.NCCL_IB_TC: wrong type: got \"a boolean\", expected a text in quotes, or a whole number"},
      {"{ NCCL_IB_TC = 1.5 }",
       "f:1: k.NCCL_IB_TC: wrong type: got \"1.5\", expected a text in quotes, or a whole number"},
      {"{ NCCL_IB_TC = [1] }",
       "f:1: k.NCCL_IB_TC: wrong type: got \"a list\", expected a text in quotes, or a whole number"},
      {"{ NCCL_IB_TC = 300 }",
       "f:1: k.NCCL_IB_TC: number out of range: got \"300\", expected -1 to 255. It is DSCP x 4, so DSCP 26 is 104 or "
       "106."},
      {"{ NCCL_IB_TC = \"\" }",
       "f:1: k.NCCL_IB_TC: empty value. It is DSCP x 4, so DSCP 26 is 104 or 106. Unset it instead."},
      {"{ NCCL_IB_TC = \"high\" }",
       "f:1: k.NCCL_IB_TC: text, which reads silently as 0: got \"high\", expected -1 to 255. It is DSCP x 4, so DSCP "
       "26 "
       "is 104 or 106."},
      {"{ NCCL_IB_HCA = \"^=a,^=b\" }",
       "f:1: k.NCCL_IB_HCA: a symbol counts only at the start, here it is part of a name: got \"^=a,^=b\". Write "
       "\"^=a,b\"."},
      {"{ NCCL_IB_ADDR_FAMILY = \"af_inet\" }",
       "f:1: k.NCCL_IB_ADDR_FAMILY: no value of this variable, so it is ignored: got \"af_inet\", expected AF_INET, "
       "AF_INET6. Write AF_INET."},
      {"{ NCCL_NEW = \"\" }", "f:1: k.NCCL_NEW: empty value. Leave it out instead."},
      {"{ NCCL_NEW = \"a\\nb\" }",
       "f:1: k.NCCL_NEW: a line end or other control character in the value: got \"a\\x0ab\""},
      {"{ NCCL_NEW = \"" + kLong + "\" }",
       "f:1: k.NCCL_NEW: value of 1024 bytes: got \"" + std::string(200, 'a') + "...\", expected at most 1023"},
  };
  for (const auto& row : kRows) {
    policy::SitePolicy out;
    EXPECT_EQ(Read(&ReadSet, row.text, &out), row.message);
    EXPECT_TRUE(out.set.empty()) << row.text;
  }
}

TEST(ReadSettingsTest, Profiles) {
  policy::SitePolicy out;
  EXPECT_EQ(Read(&ReadProfiles, "{ low-latency = { NCCL_IB_TIMEOUT = 18 }, empty = {} }", &out), "");
  EXPECT_EQ(out.profiles.at("low-latency").at("NCCL_IB_TIMEOUT").value, "18");
  EXPECT_EQ(out.profiles.at("empty").size(), 0U);
  EXPECT_EQ(Read(&ReadProfiles, "{ p = 1 }", &out), "f:1: k.p: wrong type: got \"1\", expected a table");
  EXPECT_EQ(Read(&ReadProfiles, "{ \"a,b\" = {} }", &out),
            "f:1: k.a,b: not a name that profile=NAME can give: got \"a,b\", expected at most 64 letters, digits, _ - "
            "and .");
  EXPECT_EQ(Read(&ReadProfiles, "{ \"\" = {} }", &out),
            "f:1: k.: not a name that profile=NAME can give: got \"\", expected at most 64 letters, digits, _ - and .");
  EXPECT_EQ(Read(&ReadProfiles, "{ p = { NCCL_IB_SL = 99 } }", &out),
            "f:1: k.p.NCCL_IB_SL: number out of range: got \"99\", expected -1 to 15");
}

// Right by the letter, and hardly what was meant.
TEST(ReadSettingsTest, NotesOnWhatIsHardlyMeant) {
  const struct {
    Reader read;
    const char* text;
    const char* note;
  } kRows[] = {
      {&ReadTrafficClass, "{ tc = 106, fifo_tc = 104, sl = 3 }", ""},
      {&ReadTrafficClass, "{ tc = 0 }", ""},
      {&ReadTrafficClass, "{ tc = 26 }", "f:1: k.tc: 26 is DSCP 6. DSCP 26 would be 104, or 106 by convention"},
      {&ReadTrafficClass, "{ fifo_tc = 63 }",
       "f:1: k.fifo_tc: 63 is DSCP 15. DSCP 63 would be 252, or 254 by convention"},
      {&ReadVariables, "{ allow = [\"NCCL_IB_*\", \"NCCL_IB_HCA\", \"NCCL_DEBUG\"] }", ""},
      {&ReadVariables, "{ allow = [\"NCCL_IB\"] }",
       "f:1: k.allow[1]: no variable that we know has exactly this name; NCCL_IB* is all that begin so"},
      {&ReadVariables, "{ deny = [\"NCCL_IB_HAC\"] }",
       "f:1: k.deny[1]: no variable that we know has exactly this name; Did you mean NCCL_IB_HCA?"},
      {&ReadSet, "{ NCCL_IB_HCA = \"=mlx5_0,mlx5_7\" }", ""},
      {&ReadSet, "{ NCCL_IB_HCA = \"^mlx5_0\" }", ""},
      {&ReadSet, "{ NCCL_IB_HCA = \"mlx5_0,mlx5_7\" }",
       "f:1: k.NCCL_IB_HCA: NCCL takes each name for a prefix: mlx5_7 is mlx5_70 too. Exactly these: =mlx5_0,mlx5_7"},
      {&ReadSet, "{ NCCL_SOCKET_IFNAME = \"eth1\" }",
       "f:1: k.NCCL_SOCKET_IFNAME: NCCL takes each name for a prefix: eth1 is eth10 too. Exactly these: =eth1"},
      {&ReadSet, "{ NCCL_SOCKET_IFNAME = \"eth\" }", ""},
      {&ReadSet, "{ NCCL_DEBUG = \"INFO\" }", ""},
  };
  for (const auto& row : kRows) {
    policy::SitePolicy out;
    std::string notes;
    EXPECT_EQ(Read(row.read, row.text, &out, &notes), "") << row.text;
    EXPECT_EQ(notes, row.note) << row.text;
  }
}

}  // namespace
}  // namespace nccl_tune::site
