// SPDX-License-Identifier: Apache-2.0
#include "bench/ending.h"

#include <gtest/gtest.h>

namespace nccl_tune::bench {
namespace {

using base::Code;

TEST(EndingTest, Statuses) {
  struct Case {
    Code code;
    int backend;
    int status;
  };
  for (const Case& one : {Case{Code::kInternal, 1, 1}, Case{Code::kInternal, 2, 2}, Case{Code::kInternal, 3, 3},
                          Case{Code::kTimeout, 4, 4}, Case{Code::kUnsupported, 1, 5}, Case{Code::kUnsupported, 5, 5},
                          Case{Code::kUnsupported, 3, 3}, Case{Code::kInvalidInput, 1, 6},
                          Case{Code::kInvalidInput, 3, 6}, Case{Code::kUnreadable, 1, 1}}) {
    EXPECT_EQ(StatusOf({.code = one.code, .what = "x"}, one.backend), one.status) << one.status;
  }
}

// The words that parsers look for, each line from column 0 to its end.
TEST(EndingTest, FailureLines) {
  EXPECT_EQ(FailureText(1, "n1", {.what = "broke", .where = "call 2"}), "n1: Test failure call 2: broke\n");
  EXPECT_EQ(FailureText(2, "n1", {.what = "broke"}), "n1: Test CUDA failure broke\n");
  EXPECT_EQ(FailureText(3, "n1", {.what = "broke"}), "n1: Test NCCL failure broke\n");
  EXPECT_EQ(FailureText(4, "n1", {.what = "after 5 s"}), "n1: Test timeout after 5 s\n");
  EXPECT_EQ(FailureText(5, "", {.what = "broke"}), "Test failure broke\n");
}

TEST(EndingTest, TheBestRowCountsForMinBusbw) {
  Record record;
  EXPECT_FALSE(MissedBusbw(record));
  record.options.least_busbw = 2.5;
  EXPECT_EQ(MissedBusbw(record).value_or(""), "the best busbw is 0 GB/s, under --min-busbw 2.5");
  record.rows = {{.out_of_place = {.bus_bandwidth = 1}, .in_place = {.bus_bandwidth = 2.25}}, {}};
  EXPECT_EQ(MissedBusbw(record).value_or(""), "the best busbw is 2.25 GB/s, under --min-busbw 2.5");
  record.rows[1].out_of_place.bus_bandwidth = 2.5;
  EXPECT_FALSE(MissedBusbw(record));
}

TEST(EndingTest, NcclTestsLastLineOfWrongNumbers) {
  EXPECT_EQ(RelayText("server1", 4711), " .. server1 pid 4711: Test failure nccl-bench\n");
}

TEST(EndingTest, TheBestBusbwCountsRowsThatWereNotKept) {
  Record record;
  EXPECT_EQ(BestBusbw(record), 0);
  record.rows = {{.out_of_place = {.bus_bandwidth = 3}, .in_place = {.bus_bandwidth = 4}},
                 {.out_of_place = {.bus_bandwidth = 5}}};
  EXPECT_EQ(BestBusbw(record), 5);
  record.best_bus_bandwidth = 6;
  EXPECT_EQ(BestBusbw(record), 6);
  record.options.least_busbw = 5.5;
  EXPECT_FALSE(MissedBusbw(record));
}

}  // namespace
}  // namespace nccl_tune::bench
