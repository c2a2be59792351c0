// SPDX-License-Identifier: Apache-2.0
//
// The file of --csv: one line a row of the table, for spreadsheets and data frames. Pure.
#ifndef NCCL_TUNE_BENCH_CSV_REPORT_H_
#define NCCL_TUNE_BENCH_CSV_REPORT_H_

#include <string>

#include "bench/results.h"

namespace nccl_tune::bench {

// A line of names, then one line for each row. The columns are the same for all runs, so that files can be put
// together; a cell of what was not measured is empty. Quoting is RFC 4180's, lines end in a line feed alone. Numbers
// have a point in every locale and all their digits; "inf" and "nan" are possible.
std::string CsvText(const Record& record);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_CSV_REPORT_H_
