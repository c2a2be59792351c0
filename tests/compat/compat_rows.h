// SPDX-License-Identifier: Apache-2.0
//
// What nccl-bench does otherwise than nccl-tests 2.19.6, row by row, and the test that holds each row. What a flag
// means and its default are in bench/flag_table.h. Pure.
#ifndef NCCL_TUNE_TESTS_COMPAT_COMPAT_ROWS_H_
#define NCCL_TUNE_TESTS_COMPAT_COMPAT_ROWS_H_

#include <span>
#include <string_view>

namespace nccl_tune::compat {

// A test by its file and its name there: "Suite.Name" of a TEST, else the text after @test.
struct TestName {
  std::string_view file;
  std::string_view name;
};

struct CollectiveRow {
  std::string_view name;
  std::string_view differs;  // empty: nothing
  TestName test;
};

struct FlagRow {
  std::string_view name;     // long form
  std::string_view sample;   // a value that is not the default; empty: takes none
  std::string_view differs;  // empty: nothing
  std::string_view mpi;      // what the mpi backend makes of it, where that is neither "yes" nor told at run time
  TestName test;
};

struct VariableRow {
  std::string_view name;
  std::string_view value;  // of our own ones, as in the help
  std::string_view help;   // of our own ones
  std::string_view differs;
  std::string_view nccl;
  std::string_view mpi;
  TestName test;
};

std::span<const CollectiveRow> CollectiveRows();
std::span<const FlagRow> FlagRows();
std::span<const VariableRow> VariableRows();

}  // namespace nccl_tune::compat

#endif  // NCCL_TUNE_TESTS_COMPAT_COMPAT_ROWS_H_
