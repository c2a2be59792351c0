// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bench/flag_table.h"
#include "bench/option_variables.h"
#include "bench/options.h"

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;

TEST(HelpTextTest, ItNamesEverything) {
  const std::string help = HelpText();
  for (const Flag& flag : Flags()) EXPECT_THAT(help, HasSubstr("  " + FlagNames(flag))) << flag.name;
  for (const Variable& variable : Variables()) EXPECT_THAT(help, HasSubstr("  " + std::string(variable.name)));
  EXPECT_THAT(help, HasSubstr("-b, --minbytes SIZE"));
  EXPECT_THAT(help, HasSubstr("Unknown options and any other wrong use end\nwith 6"));
  for (const char* status : {"0 measured", "1 failed", "2 failed in CUDA", "3 failed in NCCL", "4 out of time",
                             "5 not\nimplemented", "6 wrong use", "7 wrong data"}) {
    EXPECT_THAT(help, HasSubstr(status));
  }
  for (std::size_t at = 0, end = 0; at < help.size(); at = end + 1) {
    end = help.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LE(end - at, 120U) << help.substr(at, end - at);
  }
}

}  // namespace
}  // namespace nccl_tune::bench
