// SPDX-License-Identifier: Apache-2.0
#include "bench/option_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/options.h"

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Arguments = std::vector<std::string>;

Options Parsed(std::string_view called, const Arguments& arguments) {
  const auto options = ParseOptions(called, arguments, {});
  EXPECT_TRUE(options.ok()) << options.error().ToString();
  return options.ok() ? *options : Options{};
}

TEST(OptionChecksTest, WarnsOfWhatIsLeftAside) {
  struct Case {
    Arguments arguments;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{
           {{"-I", "2"}, "-I 2: not 0 or 1, ignoring it"},
           {{"-I", "-1"}, "-I -1: not 0 or 1"},
           {{"-I", "1", "-G", "5"}, "-I 1 with -G 5: a CUDA graph has no single iterations"},
           {{"-z", "3", "-G", "1"}, "-z 3 with -G 1: nothing can wait inside a CUDA graph"},
           {{"-K", "2"}, "-K 2: has no meaning without -I 1"},
           {{"-K", "20", "-I", "1"}, "-K 20: not from 0 to 19, one less than -n"},
           {{"-K", "-1", "-I", "1"}, "-K -1: not from 0 to 19"},
           {{"-K", "1", "-I", "1", "-n", "1"}, "-K 1: not from 0 to 0"},
           {{"-V", "0"}, "-V 0: not from 1 to 128, taking the default, 16"},
           {{"-V", "129"}, "-V 129: not from 1 to 128"},
           {{"-V", "-3"}, "-V -3: not from 1 to 128"},
           {{"-J", "out.csv"}, "-J out.csv: nothing will be written to it"},
           {{"-J", "json"}, "-J json: nothing will be written"},
           {{"-J", "a.json/out"}, "-J a.json/out: nothing will be written"},
           {{"-J", "a.json", "--json", "b"}, "-J a.json: ignoring it, --json is given too"},
           {{"--adaptive-seconds", "5"}, "--adaptive-seconds has no meaning without --adaptive"},
       }) {
    EXPECT_THAT(Parsed("all_reduce_perf", one.arguments).warnings, ElementsAre(HasSubstr(one.message))) << one.message;
  }
}

TEST(OptionChecksTest, LeavesAsideWhatItWarnsOf) {
  EXPECT_FALSE(Parsed("all_reduce_perf", {"-I", "2"}).times_iterations);
  EXPECT_FALSE(Parsed("all_reduce_perf", {"-I", "1", "-G", "5"}).times_iterations);
  EXPECT_EQ(Parsed("all_reduce_perf", {"-I", "1", "-G", "5"}).graph_launches, 5);
  EXPECT_EQ(Parsed("all_reduce_perf", {"-z", "3", "-G", "1"}).blocking, Blocking::kNo);
  EXPECT_EQ(Parsed("all_reduce_perf", {"-z", "2", "-G", "1"}).blocking, Blocking::kWait);
  EXPECT_EQ(Parsed("all_reduce_perf", {"-K", "2"}).skipped_iterations, 0);
  EXPECT_EQ(Parsed("all_reduce_perf", {"-K", "20", "-I", "1"}).skipped_iterations, 0);
  EXPECT_EQ(Parsed("all_reduce_perf", {"-V", "129"}).device_ctas, 16);
  EXPECT_EQ(Parsed("all_reduce_perf", {"-J", "a.json", "-J", "out.txt"}).json_file, "");
  EXPECT_EQ(Parsed("all_reduce_perf", {"-J", "a.json", "--json", "b"}).json_file, "b");
  EXPECT_FALSE(Parsed("all_reduce_perf", {"-J", "a.json", "--json", "b"}).json_may_fail);
  EXPECT_TRUE(Parsed("all_reduce_perf", {"-J", "a.json"}).json_may_fail) << "as in nccl-tests";
  const auto both = Parsed("all_reduce_perf", {"-I", "1", "-K", "2", "-G", "1"});
  EXPECT_THAT(both.warnings, ElementsAre(HasSubstr("-I 1 with -G 1"), HasSubstr("-K 2: has no meaning")));
}

TEST(OptionChecksTest, TheLastOfEqualFlagsDecides) {
  for (const Arguments& arguments : std::vector<Arguments>{{"-V", "0", "-V", "8"},
                                                           {"-I", "2", "-I", "1"},
                                                           {"-I", "1", "-K", "99", "-K", "3"},
                                                           {"-J", "out.txt", "-J", "out.JSON"},
                                                           {"-G", "1", "-I", "1", "-G", "0"}}) {
    EXPECT_THAT(Parsed("all_reduce_perf", arguments).warnings, IsEmpty()) << arguments[0];
  }
  EXPECT_EQ(Parsed("all_reduce_perf", {"-J", "out.txt", "-J", "dir.x/out.JSON"}).json_file, "dir.x/out.JSON");
}

TEST(OptionChecksTest, DeviceImplementations) {
  for (const char* number : {"1", "2", "3", "4"}) {
    EXPECT_GT(Parsed("all_reduce_perf", {"-D", number, "-R", "2"}).device_implementation, 0);
    EXPECT_GT(Parsed("alltoall_perf", {"-D", number, "-R", "2"}).device_implementation, 0);
  }
  EXPECT_EQ(Parsed("all_gather_perf", {"-D", "0"}).device_implementation, 0);
  struct Case {
    const char* called;
    Arguments arguments;
    base::Code code;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{
           {"all_reduce_perf", {"-D", "1"}, base::Code::kInvalidInput, "-D 1: a device implementation needs buffers"},
           {"all_reduce_perf", {"-D", "1", "-R", "1"}, base::Code::kInvalidInput, "got \"-R 1\", expected -R 2"},
           {"gather_perf", {"-D", "9"}, base::Code::kInvalidInput, "expected -R 2"},
           {"all_reduce_perf",
            {"-D", "5", "-R", "2"},
            base::Code::kUnsupported,
            "-D: device implementation is not supported by all_reduce: got \"5\", expected 0 to 4"},
           {"alltoall_perf", {"-D", "5", "-R", "2"}, base::Code::kUnsupported, "not supported by alltoall"},
           {"alltoallv_perf", {"-D", "1", "-R", "2"}, base::Code::kUnsupported, "expected 0, only all_reduce and"},
           {"sendrecv_perf", {"-D", "1", "-R", "2"}, base::Code::kUnsupported, "not supported by sendrecv"}}) {
    const auto options = ParseOptions(one.called, one.arguments, {});
    ASSERT_FALSE(options.ok()) << one.message;
    EXPECT_EQ(options.error().code, one.code) << one.message;
    EXPECT_THAT(options.error().ToString(), HasSubstr(one.message));
  }
}

TEST(OptionChecksTest, ASearchHasOneSizeUnlessSeveralAreAskedFor) {
  struct Case {
    Arguments arguments;
    std::uint64_t least;
    std::uint64_t most;
  };
  for (const Case& one : std::vector<Case>{{{"pairs"}, 64U << 20U, 64U << 20U},
                                           {{"bisect"}, 64U << 20U, 64U << 20U},
                                           {{"pairs", "-b", "1G"}, 1U << 30U, 1U << 30U},
                                           {{"bisect", "-e", "1M"}, 1U << 20U, 1U << 20U},
                                           {{"pairs", "-b", "8", "-e", "64", "-f", "2"}, 8, 64}}) {
    const Sweep sweep = Parsed("nccl-bench", one.arguments).sweep;
    EXPECT_EQ(sweep.min_bytes, one.least) << one.arguments[0];
    EXPECT_EQ(sweep.max_bytes, one.most) << one.arguments[0];
  }
}

}  // namespace
}  // namespace nccl_tune::bench
