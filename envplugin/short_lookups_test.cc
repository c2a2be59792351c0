// SPDX-License-Identifier: Apache-2.0
#include "envplugin/short_lookups.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <resolv.h>

#include <thread>

namespace nccl_tune::envplugin {
namespace {

TEST(ShortLookupsTest, ForThisThreadAndForAsLongAsItLives) {
  ASSERT_EQ(res_init(), 0);
  _res.retrans = 7;
  _res.retry = 3;
  {
    const ShortLookups lookups;
    EXPECT_EQ(_res.retrans, 1);
    EXPECT_EQ(_res.retry, 1);
    int elsewhere = 0;
    std::thread([&] {
      if (res_init() == 0) elsewhere = _res.retrans;
    }).join();
    EXPECT_NE(elsewhere, 1) << "another thread's options are its own";
  }
  EXPECT_EQ(_res.retrans, 7);
  EXPECT_EQ(_res.retry, 3);
}

TEST(ShortLookupsTest, InAThreadThatNeverLookedAnythingUp) {
  std::thread([] {
    int before = 0;
    {
      const ShortLookups lookups;
      EXPECT_EQ(_res.retrans, 1);
      EXPECT_NE(_res.options & RES_INIT, 0U);
    }
    before = _res.retrans;
    EXPECT_GT(before, 1) << "the system's own wait";
  }).join();
}

}  // namespace
}  // namespace nccl_tune::envplugin
