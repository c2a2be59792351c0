// SPDX-License-Identifier: Apache-2.0
#include "spank/mode.h"

#include <gtest/gtest.h>

namespace nccl_tune::spank {
namespace {

TEST(ModeTest, Good) {
  const Mode kAuto{.set = true, .explain = false, .mpi = false, .profile = {}};
  const Mode kExplain{.set = true, .explain = true, .mpi = false, .profile = {}};
  const Mode kDryRun{.set = false, .explain = true, .mpi = false, .profile = {}};
  EXPECT_EQ(*ParseMode(""), kAuto);
  EXPECT_EQ(*ParseMode("(null)"), kAuto);
  EXPECT_EQ(*ParseMode("auto"), kAuto);
  EXPECT_EQ(*ParseMode("explain"), kExplain);
  EXPECT_EQ(*ParseMode("auto,explain"), kExplain);
  EXPECT_EQ(*ParseMode("dry-run"), kDryRun);
  EXPECT_EQ(*ParseMode("explain,dry-run"), kDryRun);
  EXPECT_EQ(*ParseMode("mpi"), (Mode{.set = true, .explain = false, .mpi = true, .profile = {}}));
  EXPECT_EQ(*ParseMode("dry-run,mpi"), (Mode{.set = false, .explain = true, .mpi = true, .profile = {}}));
  EXPECT_EQ(*ParseMode("profile=fast-1.b"), (Mode{.set = true, .explain = false, .mpi = false, .profile = "fast-1.b"}));
  EXPECT_EQ(ParseMode("explain,profile=a")->profile, "a");
  EXPECT_EQ(*ParseMode("off"), Mode{});
  EXPECT_FALSE(ParseMode("off")->Active());
}

TEST(ModeTest, BadNamesTheItemAndWhatIsValid) {
  for (const char* text :
       {"on",       "Auto",    "auto,",       ",auto",         " auto",       "auto ",     "auto;explain",
        "dryrun",   "yes",     "1",           "auto,,explain", "--help",      "explain=1", "\n",
        "profile=", "profile", "profile=a b", "Profile=a",     "profile=a/b", "null",      "(null),auto"}) {
    const auto got = ParseMode(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "unknown mode") << text;
  }
  EXPECT_EQ(
      ParseMode("fast").error().ToString(),
      "--nccl-tune: unknown mode: got \"fast\", expected auto, off, explain, dry-run, mpi, profile=NAME or several of "
      "them with commas between");
  EXPECT_EQ(ParseMode("off,auto").error().what, "off together with another mode");
  EXPECT_EQ(ParseMode("mpi,off").error().what, "off together with another mode");
  EXPECT_EQ(ParseMode("explain,off").error().what, "off together with another mode");
}

}  // namespace
}  // namespace nccl_tune::spank
