// SPDX-License-Identifier: Apache-2.0
#include "launcher/agreement.h"

#include <gtest/gtest.h>

#include <vector>

namespace nccl_tune::launcher {
namespace {

TEST(AgreementTest, ThereAndBack) {
  const Agreement all{.drop_networks = {"172.20.3.0/24", "fd00::/64"},
                      .drop_places = {2, 5},
                      .layout_size = 10,
                      .family = 6,
                      .traffic_class = "106",
                      .fall_back = true,
                      .stop = true};
  EXPECT_EQ(EncodeAgreement(all),
            R"({"v":1,"nets":["172.20.3.0/24","fd00::/64"],"places":[2,5],"of":10,"family":6,"tc":"106","back":true,)"
            R"("stop":true})");
  EXPECT_EQ(EncodeAgreement({}), R"({"v":1})");
  for (const auto& one : {all, Agreement{}, Agreement{.traffic_class = ""}, Agreement{.stop = true}}) {
    const auto back = DecodeAgreement(EncodeAgreement(one));
    ASSERT_TRUE(back.ok()) << EncodeAgreement(one);
    EXPECT_EQ(*back, one);
  }
}

TEST(AgreementTest, RefusesOtherText) {
  for (const char* text : {"",
                           "{}",
                           "[]",
                           "7",
                           R"({"v":2})",
                           R"({"v":"1"})",
                           R"({"v":1}x)",
                           R"({"v":1,"nets":[]})",
                           R"({"v":1,"nets":"a"})",
                           R"({"v":1,"nets":["eth0"]})",
                           R"({"v":1,"nets":[7]})",
                           R"({"v":1,"places":[1]})",
                           R"({"v":1,"of":3})",
                           R"({"v":1,"places":[],"of":3})",
                           R"({"v":1,"places":[3],"of":3})",
                           R"({"v":1,"places":[-1],"of":3})",
                           R"({"v":1,"places":[1,1],"of":3})",
                           R"({"v":1,"places":[2,1],"of":3})",
                           R"({"v":1,"places":["1"],"of":3})",
                           R"({"v":1,"places":[1],"of":0})",
                           R"({"v":1,"places":[1],"of":257})",
                           R"({"v":1,"places":[1.5],"of":3})",
                           R"({"v":1,"family":5})",
                           R"({"v":1,"family":"4"})",
                           R"({"v":1,"tc":106})",
                           R"({"v":1,"tc":"256"})",
                           R"({"v":1,"tc":"x"})",
                           R"({"v":1,"tc":"-1"})",
                           R"({"v":1,"back":1})",
                           R"({"v":1,"back":false})",
                           R"({"v":1,"stop":"true"})"}) {
    const auto agreement = DecodeAgreement(text);
    ASSERT_FALSE(agreement.ok()) << text;
    EXPECT_EQ(agreement.error().what, "not an agreement of this version of nccl-launch") << text;
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
