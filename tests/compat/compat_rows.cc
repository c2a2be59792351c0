// SPDX-License-Identifier: Apache-2.0
#include "tests/compat/compat_rows.h"

#include <array>

namespace nccl_tune::compat {
namespace {

constexpr TestName Collective(std::string_view name) { return {"bench/collective_test.cc", name}; }
constexpr TestName Table(std::string_view name) { return {"bench/table_test.cc", name}; }
constexpr TestName kSets{"bench/flag_table_test.cc", "FlagTableTest.EachFlagSetsItsField"};
constexpr TestName kRefuses{"bench/options_test.cc", "OptionsTest.RefusesTheRest"};
constexpr TestName kNames{"bench/flag_table_test.cc", "FlagTableTest.EveryTypeAndOperationIsKnown"};
constexpr TestName kWarns{"bench/option_checks_test.cc", "OptionChecksTest.WarnsOfWhatIsLeftAside"};
constexpr TestName kVariables{"bench/option_variables_test.cc", "OptionVariablesTest.SetsWhatNcclTestsReads"};
constexpr TestName kBadVariables{"bench/option_variables_test.cc", "OptionVariablesTest.RefusesTheRest"};

constexpr std::string_view kSwitchOnly = "only 0 and 1; nccl-tests takes any other number for 1";
constexpr std::string_view kNoNegative = "a negative number is refused";

constexpr std::array<CollectiveRow, 11> kCollectives = {{
    {"all_reduce", "", Collective("CollectiveTest.AllReduce")},
    {"all_gather", "", Collective("CollectiveTest.AllGather")},
    {"broadcast", "", Collective("CollectiveTest.Broadcast")},
    {"reduce_scatter", "", Collective("CollectiveTest.ReduceScatter")},
    {"reduce", "", Collective("CollectiveTest.Reduce")},
    {"alltoall", "", Collective("CollectiveTest.Alltoall")},
    {"alltoallv", "", Collective("CollectiveTest.Alltoallv")},
    {"scatter", "", Collective("CollectiveTest.Scatter")},
    {"gather", "", Collective("CollectiveTest.Gather")},
    {"sendrecv", "", Collective("CollectiveTest.Sendrecv")},
    {"hypercube", "", Collective("CollectiveTest.Hypercube")},
}};

constexpr std::array<FlagRow, 32> kTheirFlags = {{
    {"nthreads",
     "2",
     "less than 1 is refused",
     "1; more is refused, with the number of tasks to start instead",
     {"bench/backend_choice_test.cc", "BackendChoiceTest.RefusesWhatIsNotThere"}},
    {"ngpus",
     "4",
     "less than 1 is refused; more GPUs than there are end with 6",
     "1; more is refused, with the number of tasks to start instead",
     {"bench/backend_choice_test.cc", "BackendChoiceTest.RefusesWhatIsNotThere"}},
    {"minbytes",
     "8",
     "0 with -f is refused, with -i it is measured; nccl-tests ends with neither",
     "",
     {"bench/sizes_test.cc", "SizesTest.RefusesSweepsThatDoNotEnd"}},
    {"maxbytes",
     "64M",
     "less than -b ends with 6, not 255",
     "",
     {"bench/sizes_test.cc", "SizesTest.RefusesSweepsThatDoNotEnd"}},
    {"stepbytes",
     "2M",
     "0 is refused where the sizes would not end",
     "",
     {"bench/sizes_test.cc", "SizesTest.RefusesSweepsThatDoNotEnd"}},
    {"stepfactor", "2", kNoNegative, "", {"bench/sizes_test.cc", "SizesTest.SweepsByFactorAndStep"}},
    {"iters", "5", "less than 1 is refused", "", kRefuses},
    {"agg_iters", "4", "less than 1 is refused", "", kRefuses},
    {"warmup_iters", "0", kNoNegative, "", kRefuses},
    {"run_cycles", "2", kNoNegative, "", kRefuses},
    {"parallel_init", "1", kSwitchOnly, "", kRefuses},
    {"check", "0", kNoNegative, "", kRefuses},
    {"op", "mulsum", "an unknown name is refused; nccl-tests takes sum and says so on stdout", "", kNames},
    {"datatype", "f8e4m3", "an unknown name is refused; nccl-tests takes float and says so on stdout", "", kNames},
    {"root",
     "1",
     "`all` is each rank in turn, as -1 is; nccl-tests reads it as 0",
     "",
     {"bench/options_test.cc", "OptionsTest.RootsAreOneOrAll"}},
    {"blocking", "3", "more than 3 is refused; with -G, 3 is ignored and told, as there", "", kWarns},
    {"stream_null", "1", kSwitchOnly, "", kRefuses},
    {"timeout", "60", kNoNegative, "", kRefuses},
    {"cudagraph", "10", kNoNegative, "", kRefuses},
    {"report_cputime", "1", kSwitchOnly, "", Table("TableTest.Columns")},
    {"report_timestamps", "1", kSwitchOnly, "", Table("TableTest.RowsWithTimeStampAndIterations")},
    {"output_file", "out.json",
     "another suffix is told, nccl-tests writes nothing silently; only variables that decide the run are written", "",
     kWarns},
    {"average", "3", "more than 3 is refused", "", kRefuses},
    {"local_register", "2", "more than 2 is refused", "", kRefuses},
    {"cta_policy", "1", "more than 2 is refused", "", kRefuses},
    {"device_implementation",
     "1",
     "an unknown number and other collectives end with 5, as there, but before anything starts; without -R 2 with 6",
     "",
     {"bench/option_checks_test.cc", "OptionChecksTest.DeviceImplementations"}},
    {"device_cta_count", "32", "", "", kWarns},
    {"memory", "1", kSwitchOnly, "", Table("TableTest.Memory")},
    {"unalign", "3", kNoNegative, "", kRefuses},
    {"per_iter_timing", "1", "", "", Table("TableTest.RowsWithTimeStampAndIterations")},
    {"per_iter_skip", "2", "", "", kWarns},
    {"help", "", "an unknown option ends with 6; nccl-tests prints its help and ends with 0", "", kRefuses},
}};

constexpr std::array<FlagRow, 10> kOwnFlags = {{
    {"backend", "mpi", "", "", {"bench/backend_choice_test.cc", "BackendChoiceTest.FollowsTheUser"}},
    {"json", "out", "", "", {"bench/json_report_test.cc", "JsonReportTest.WholeText"}},
    {"csv", "out", "", "", {"bench/csv_report_test.cc", "CsvReportTest.NamesOnceAndALineARow"}},
    {"adaptive", "", "", "", kSets},
    {"adaptive-seconds", "2.5", "", "", kSets},
    {"min-busbw", "2.8", "", "", kSets},
    {"per-rail", "", "", "", kSets},
    {"nvtx", "", "", "", kSets},
    {"nccl-debug", "log", "", "", kSets},
    {"version", "", "", "", {"bench/options_test.cc", "OptionsTest.ModesAndCollectives"}},
}};

constexpr std::array<VariableRow, 10> kVariableRows = {{
    {"NCCL_TESTS_DEVICE",
     "",
     "",
     "",
     "yes",
     "no GPU, nothing to choose",
     {"bench/help_text_test.cc", "HelpTextTest.ItNamesEverything"}},
    {"NCCL_TESTS_MIN_BW", "", "", "what is no number from 0 on is refused; nccl-tests reads what it can", "yes", "yes",
     kBadVariables},
    {"NCCL_TESTS_SPLIT",
     "",
     "",
     "what is no split is refused, nccl-tests makes one group of it; 0 to divide by too",
     "yes",
     "yes",
     {"bench/split_test.cc", "SplitTest.GroupsProcesses"}},
    {"NCCL_TESTS_SPLIT_MASK",
     "",
     "",
     "what is not hexadecimal is refused; empty is as if not set",
     "yes",
     "yes",
     {"bench/option_variables_test.cc", "OptionVariablesTest.TheMaskGoesOverTheSplit"}},
    {"NCCL_TESTS_ALLTOALLV_SPREAD",
     "",
     "",
     "what is no number is refused; the bound that is taken is told",
     "yes",
     "yes",
     {"bench/option_variables_test.cc", "OptionVariablesTest.WarnsOfWhatItChanges"}},
    {"NCCL_TESTS_ALLTOALLV_MATRIX_FILE",
     "",
     "",
     "",
     "yes",
     "yes",
     {"bench/traffic_test.cc", "TrafficTest.ReadsMatrices"}},
    {"NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "", "", "what is no number from 0 on is refused", "yes", "yes",
     kBadVariables},
    {"NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", "", "", kSwitchOnly, "yes", "yes", Table("TableTest.TrafficOfAlltoallv")},
    {"NCCL_BENCH_NCCL_LIB",
     "FILE",
     "the NCCL to measure, instead of the one that the loader finds",
     "nccl-tests has none",
     "yes",
     "NCCL takes no part",
     {"bench/shown_environment_test.cc", "ShownEnvironmentTest.WhatDecidesTheRun"}},
    {"NCCL_BENCH_TEST_CORRUPT", "RANK:OFFSET", "for tests of the data check: spoils that element of that rank's result",
     "nccl-tests has none", "yes", "yes", kVariables},
}};

constexpr auto kFlagRows = [] {
  std::array<FlagRow, kTheirFlags.size() + kOwnFlags.size()> rows{};
  for (std::size_t at = 0; at < kTheirFlags.size(); ++at) rows[at] = kTheirFlags[at];
  for (std::size_t at = 0; at < kOwnFlags.size(); ++at) rows[kTheirFlags.size() + at] = kOwnFlags[at];
  return rows;
}();

}  // namespace

std::span<const CollectiveRow> CollectiveRows() { return kCollectives; }
std::span<const FlagRow> FlagRows() { return kFlagRows; }
std::span<const VariableRow> VariableRows() { return kVariableRows; }

}  // namespace nccl_tune::compat
