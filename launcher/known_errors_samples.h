// SPDX-License-Identifier: Apache-2.0
//
// Lines as programs print them: one or more for each row of the table, and lines that no row may explain.
#ifndef NCCL_TUNE_LAUNCHER_KNOWN_ERRORS_SAMPLES_H_
#define NCCL_TUNE_LAUNCHER_KNOWN_ERRORS_SAMPLES_H_

#include <string>
#include <vector>

namespace nccl_tune::launcher {

struct Sample {
  std::string id;  // of the row that explains it
  std::string line;
};

std::vector<Sample> Samples();
std::vector<std::string> HarmlessLines();

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_KNOWN_ERRORS_SAMPLES_H_
