// SPDX-License-Identifier: Apache-2.0
#include "site/mode.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nccl_tune::site {
namespace {

Mode Auto() {
  Mode out;
  out.set = true;
  return out;
}

TEST(ModeTest, Good) {
  const struct {
    const char* text;
    void (*change)(Mode*);  // from auto
  } kRows[] = {
      {"", [](Mode*) {}},
      {"(null)", [](Mode*) {}},
      {"auto", [](Mode*) {}},
      {"explain", [](Mode* m) { m->explain = true; }},
      {"auto,explain", [](Mode* m) { m->explain = true; }},
      {"dry-run", [](Mode* m) { m->set = false, m->explain = true; }},
      {"explain,dry-run", [](Mode* m) { m->set = false, m->explain = true; }},
      {"mpi", [](Mode* m) { m->mpi = true; }},
      {"dry-run,mpi", [](Mode* m) { m->set = false, m->explain = m->mpi = true; }},
      {"strict", [](Mode* m) { m->strict = true; }},
      {"profile=fast-1.b", [](Mode* m) { m->profile = "fast-1.b"; }},
      {"explain,profile=a", [](Mode* m) { m->explain = true, m->profile = "a"; }},
      {"set=NCCL_IB_TC:106",
       [](Mode* m) {
         m->values = {{"NCCL_IB_TC", "106"}};
       }},
      {"set=NCCL_IB_TC:106,strict",
       [](Mode* m) {
         m->values = {{"NCCL_IB_TC", "106"}}, m->strict = true;
       }},
      {"set=NCCL_IB_HCA:=a:1,,b:1",
       [](Mode* m) {
         m->values = {{"NCCL_IB_HCA", "=a:1,b:1"}};
       }},
      {"set=NCCL_IB_HCA:=a,,b,set=NCCL_NEW:x=y:z,auto",
       [](Mode* m) {
         m->values = {{"NCCL_IB_HCA", "=a,b"}, {"NCCL_NEW", "x=y:z"}};
       }},
      {"set=NCCL_NEW:,,,,",
       [](Mode* m) {
         m->values = {{"NCCL_NEW", ",,"}};
       }},
      {"unset=NCCL_IB_HCA,unset=NCCL_NEW,unset=NCCL_NEW",
       [](Mode* m) {
         m->unset = {"NCCL_IB_HCA", "NCCL_NEW"};
       }},
  };
  for (const auto& row : kRows) {
    const auto got = ParseMode(row.text);
    ASSERT_TRUE(got.ok()) << row.text << ": " << got.error().ToString();
    Mode expected = Auto();
    row.change(&expected);
    EXPECT_EQ(*got, expected) << row.text;
    EXPECT_TRUE(got->Active()) << row.text;
  }
  EXPECT_EQ(*ParseMode("off"), Mode{});
  EXPECT_FALSE(ParseMode("off")->Active());
}

TEST(ModeTest, BadNamesTheItemAndWhatIsValid) {
  for (const char* text :
       {"on",           "Auto",      "auto,", ",auto",          " auto",  "auto ",     "auto;explain",
        "dryrun",       "yes",       "1",     "auto,,explain",  "--help", "explain=1", "\n",
        "profile",      "Profile=a", "null",  "(null),auto",    "set",    "unset",     "Strict",
        "set NCCL_X:1", "strict=1",  ",",     "set=NCCL_NEW:1,"}) {
    const auto got = ParseMode(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "unknown mode") << text;
  }
  EXPECT_EQ(ParseMode("fast").error().ToString(),
            "--nccl-tune: unknown mode: got \"fast\", expected auto, off, explain, dry-run, strict, mpi, profile=NAME, "
            "set=NAME:VALUE, unset=NAME or several of them with commas between");
  const struct {
    const char* text;
    const char* hint;
  } kMeant[] = {
      {"explian", "Did you mean explain?"},
      {"EXPLAIN", "Did you mean explain?"},
      {"OFF", "Did you mean off?"},
      {"dryrun", "Did you mean dry-run?"},
      {"on", "Did you mean auto?"},
      {"1", "Did you mean auto?"},
      {"0", "Did you mean off?"},
      {"No", "Did you mean off?"},
      {"sometimes", ""},
      {"explain,", ""},
      {"set=NCCL_IB_HCA:=mlx5_0:1,mlx5_7:1",
       "A comma in a value is written twice: set=NCCL_IB_HCA:=mlx5_0:1,,mlx5_7:1"},
      {"explain,set=NCCL_ALGO:Ring,Tree,strict", "A comma in a value is written twice: set=NCCL_ALGO:Ring,,Tree"},
      {"set=NCCL_NEW:1,explain,fast", ""},
      {"set=NCCL_NEW:1,\x1b", "A comma in a value is written twice: set=NCCL_NEW:1,,\\x1b"},
  };
  for (const auto& row : kMeant) {
    const auto got = ParseMode(row.text);
    ASSERT_FALSE(got.ok()) << row.text;
    EXPECT_EQ(got.error().hint, row.hint) << row.text;
  }
  for (const char* text : {"off,auto", "mpi,off", "explain,off", "off,strict", "set=NCCL_NEW:1,off"}) {
    EXPECT_EQ(ParseMode(text).error().what, "off together with another mode") << text;
  }
}

TEST(ModeTest, BadValues) {
  const std::string no_variable = "--nccl-tune: not a variable of NCCL's that can be set: got ";
  const std::string begins = ", expected a name that begins with NCCL_";
  const std::string much(1000, 'x');
  std::string too_much;
  for (const char* name : {"0", "1", "2", "3", "4"}) too_much += "set=NCCL_NEW" + (name + (":" + much)) + ",";
  too_much.pop_back();
  const struct {
    std::string text;
    std::string message;
  } kRows[] = {
      {"profile=", "--nccl-tune: no name: got \"profile=\", expected profile=NAME"},
      {"profile=a b",
       "--nccl-tune: not the name of a profile: got \"profile=a b\", expected at most 64 letters, digits, _ - and ."},
      {"profile=a/b",
       "--nccl-tune: not the name of a profile: got \"profile=a/b\", expected at most 64 letters, digits, _ - and ."},
      {"profile=a,profile=b",
       "--nccl-tune: a second profile: got \"profile=b\", expected one profile. Ask the site for one that holds both."},
      {"set=", "--nccl-tune: no value: got \"set=\", expected set=NAME:VALUE"},
      {"set=NCCL_IB_TC", "--nccl-tune: no value: got \"set=NCCL_IB_TC\", expected set=NAME:VALUE"},
      {"set=NCCL_IB_TC=106", "--nccl-tune: no value: got \"set=NCCL_IB_TC=106\", expected set=NAME:VALUE"},
      {"set=PATH:/x", no_variable + "\"set=PATH:/x\"" + begins},
      {"set=:1", no_variable + "\"set=:1\"" + begins},
      {"set=LD_PRELOAD:/x.so", no_variable + "\"set=LD_PRELOAD:/x.so\"" + begins},
      {"set=GLOO_SOCKET_IFNAME:eth0", no_variable + "\"set=GLOO_SOCKET_IFNAME:eth0\"" + begins},
      {"set=NCCL_TUNE:off", no_variable + "\"set=NCCL_TUNE:off\"" + begins},
      {"set=nccl_ib_tc:1", no_variable + "\"set=nccl_ib_tc:1\"" + begins},
      {"set=NCCL_IB_TC:",
       "--nccl-tune: set=NCCL_IB_TC: empty value. It is DSCP x 4, so DSCP 26 is 104 or 106. Unset it "
       "instead."},
      {"set=NCCL_IB_TC:300",
       "--nccl-tune: set=NCCL_IB_TC: number out of range: got \"300\", expected -1 to 255. It is DSCP x 4, so DSCP 26 "
       "is "
       "104 or 106."},
      {"set=NCCL_NEW:a\nb",
       "--nccl-tune: set=NCCL_NEW: a line end or other control character in the value: got \"a\\x0ab\""},
      {"set=NCCL_NEW:1,set=NCCL_NEW:2",
       "--nccl-tune: set twice: got \"set=NCCL_NEW:2\", expected one value for a variable"},
      {too_much, "--nccl-tune: too much to set: got \"set=NCCL_NEW4:" + std::string(186, 'x') +
                     "...\", expected at most 4096 bytes of names and values in all"},
      {"set=NCCL_NEW:1,unset=NCCL_NEW", "--nccl-tune: set and unset: got \"NCCL_NEW\", expected one of them"},
      {"unset=", no_variable + "\"unset=\"" + begins},
      {"unset=PATH", no_variable + "\"unset=PATH\"" + begins},
      {"unset=NCCL_TUNE_PLAN", no_variable + "\"unset=NCCL_TUNE_PLAN\"" + begins},
      {"unset=NCCL_*", no_variable + "\"unset=NCCL_*\"" + begins},
  };
  for (const auto& row : kRows) {
    const auto got = ParseMode(row.text);
    ASSERT_FALSE(got.ok()) << row.text;
    EXPECT_EQ(got.error().ToString(), row.message) << row.text;
  }
}

TEST(ModeTest, MessagesNameWhatTheTextIsOf) {
  EXPECT_TRUE(ParseMode("fast", "NCCL_TUNE").error().ToString().starts_with("NCCL_TUNE: unknown mode: got \"fast\""));
  EXPECT_TRUE(ParseMode("set=NCCL_IB_TC:", "NCCL_TUNE").error().ToString().starts_with("NCCL_TUNE: set=NCCL_IB_TC: "));
  EXPECT_TRUE(ParseMode("profile=a,profile=a").ok());
}

TEST(ModeTest, VariablesThatAreNotKnown) {
  const struct {
    const char* text;
    std::vector<std::string> lines;
  } kRows[] = {
      {"auto", {}},
      {"set=NCCL_IB_TIMEOUT:22,unset=NCCL_IB_HCA,set=NCCL_DEBUG:INFO", {}},
      {"set=NCCL_IB_TIMOUT:22", {"set=NCCL_IB_TIMOUT: not a variable that we know. Did you mean NCCL_IB_TIMEOUT?"}},
      {"set=NCCL_QUITE_NEW_AND_FAR_AWAY:1", {"set=NCCL_QUITE_NEW_AND_FAR_AWAY: not a variable that we know"}},
      {"unset=NCCL_IB_HAC,strict", {"unset=NCCL_IB_HAC: not a variable that we know. Did you mean NCCL_IB_HCA?"}},
  };
  for (const auto& row : kRows) EXPECT_EQ(UnknownVariables(*ParseMode(row.text)), row.lines) << row.text;
}

}  // namespace
}  // namespace nccl_tune::site
