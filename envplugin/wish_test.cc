// SPDX-License-Identifier: Apache-2.0
#include "envplugin/wish.h"

#include <gtest/gtest.h>

namespace nccl_tune::envplugin {
namespace {

TEST(WishTest, WithoutAValueWhoeverLoadsThePluginWantsIt) {
  EXPECT_EQ(ReadWish({}), Wish{});
  EXPECT_EQ(ReadWish({{"NCCL_TUNE", ""}}), Wish{});
  EXPECT_TRUE(Wish{}.set);
}

TEST(WishTest, Items) {
  const struct {
    const char* text;
    bool set, explain;
    const char* profile;
  } kRows[] = {
      {"auto", true, false, ""},
      {"off", false, false, ""},
      {"explain", true, true, ""},
      {"dry-run", false, true, ""},
      {"auto,explain", true, true, ""},
      {"dry-run,explain", false, true, ""},
      {"profile=lossless", true, false, "lossless"},
      {"explain,profile=a.b", true, true, "a.b"},
      {"mpi", true, false, ""},
      {"strict,mpi,auto", true, false, ""},
      {"set=NCCL_IB_TC:106", true, false, ""},
      {"set=NCCL_IB_HCA:=mlx5_0,,mlx5_2,explain", true, true, ""},
      {"unset=NCCL_IB_TC,dry-run", false, true, ""},
  };
  for (const auto& row : kRows) {
    const Wish expected{.stated = true, .set = row.set, .explain = row.explain, .profile = row.profile, .refused = {}};
    EXPECT_EQ(ReadWish({{"NCCL_TUNE", row.text}}), expected) << row.text;
  }
}

TEST(WishTest, AnItemThatIsNoneSetsNothingAndSaysNothing) {
  const struct {
    const char* text;
    const char* refused;
  } kRows[] = {
      {"of", "of"},
      {"OFF", "OFF"},
      {"1", "1"},
      {" off", " off"},
      {"off,explain", "off"},
      {"explain,off", "off"},
      {"off,off", "off"},
      {"sometimes", "sometimes"},
      {"explain,sometimes", "sometimes"},
      {"profile=", "profile="},
      {"profile", "profile"},
      {"set", "set"},
      {"unset", "unset"},
      {"auto,", "auto,"},
      {",auto", ",auto"},
      {",", ","},
      {"auto,,explain", "auto,explain"},
      {"auto\n", "auto\n"},
  };
  for (const auto& row : kRows) {
    const Wish wish = ReadWish({{"NCCL_TUNE", row.text}});
    EXPECT_EQ(wish.refused, row.refused) << row.text;
    EXPECT_FALSE(wish.Active()) << row.text;
    EXPECT_TRUE(wish.stated) << row.text;
  }
}

TEST(WishTest, OneProcessOfANodePrints) {
  EXPECT_TRUE(IsFirstOnNode({}));
  EXPECT_TRUE(IsFirstOnNode({{"SLURM_LOCALID", "0"}, {"SLURM_PROCID", "4"}}));
  EXPECT_TRUE(IsFirstOnNode({{"SLURM_LOCALID", "0"}, {"LOCAL_RANK", "0"}}));
  EXPECT_FALSE(IsFirstOnNode({{"SLURM_LOCALID", "0"}, {"LOCAL_RANK", "3"}})) << "torchrun below one task";
  EXPECT_FALSE(IsFirstOnNode({{"SLURM_LOCALID", "1"}}));
  EXPECT_FALSE(IsFirstOnNode({{"OMPI_COMM_WORLD_LOCAL_RANK", "7"}}));
  EXPECT_FALSE(IsFirstOnNode({{"MPI_LOCALRANKID", "2"}}));
}

}  // namespace
}  // namespace nccl_tune::envplugin
