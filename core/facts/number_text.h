// SPDX-License-Identifier: Apache-2.0
//
// Rates and speeds for readers.
#ifndef NCCL_TUNE_CORE_FACTS_NUMBER_TEXT_H_
#define NCCL_TUNE_CORE_FACTS_NUMBER_TEXT_H_

#include <string>

namespace nccl_tune::facts {

// Up to six decimals, without zeros at the end: "25", "12.5". Does not depend on the locale of a program that sets
// none.
inline std::string NumberText(double value) {
  std::string text = std::to_string(value);  // always with a point
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace nccl_tune::facts

#endif  // NCCL_TUNE_CORE_FACTS_NUMBER_TEXT_H_
