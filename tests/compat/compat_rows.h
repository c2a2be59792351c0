// SPDX-License-Identifier: Apache-2.0
//
// What nccl-bench does otherwise than nccl-tests 2.19.6, row by row, and the tests that hold each row. What a flag
// means and its default are in bench/flag_table.h. Pure.
#ifndef NCCL_TUNE_TESTS_COMPAT_COMPAT_ROWS_H_
#define NCCL_TUNE_TESTS_COMPAT_COMPAT_ROWS_H_

#include <array>
#include <span>
#include <string_view>

namespace nccl_tune::compat {

// A test by its file and its name there: "Suite.Name" of a TEST, else the text after @test.
struct TestName {
  std::string_view file;
  std::string_view name;
};

// What shows that a row is true.
struct Tests {
  TestName unit;
  // Real processes over host memory: end to end, or tests/mpi. None where the mpi backend does nothing with it.
  std::array<TestName, 2> host{};
  // Names, a blank between, of pairs of outputs, ours and nccl-tests' with the same flags on a GPU, that are compared
  // again in each run of the tests: tests/gpu/logs/compare/NAME.ours and NAME.theirs.
  std::string_view pairs{};
};

struct CollectiveRow {
  std::string_view name;
  std::string_view differs;  // empty: nothing
  Tests tests;
};

struct FlagRow {
  std::string_view name;     // long form
  std::string_view sample;   // a value that is not the default; empty: takes none
  std::string_view differs;  // empty: nothing
  std::string_view mpi;      // what the mpi backend makes of it, where that is neither "yes" nor told at run time
  Tests tests;
};

struct VariableRow {
  std::string_view name;
  std::string_view differs;
  std::string_view nccl;
  std::string_view mpi;
  Tests tests;
};

std::span<const CollectiveRow> CollectiveRows();
std::span<const FlagRow> FlagRows();
std::span<const VariableRow> VariableRows();

}  // namespace nccl_tune::compat

#endif  // NCCL_TUNE_TESTS_COMPAT_COMPAT_ROWS_H_
