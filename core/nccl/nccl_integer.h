// SPDX-License-Identifier: Apache-2.0
//
// How NCCL turns the text of a variable into a number: leniently, unlike everything of ours. For telling what a value
// will do, never for reading our own input.
#ifndef NCCL_TUNE_CORE_NCCL_NCCL_INTEGER_H_
#define NCCL_TUNE_CORE_NCCL_NCCL_INTEGER_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace nccl_tune::nccl {

enum class IntegerForm {
  kPlain,     // decimal, or 0x and hexadecimal digits
  kOctal,     // a leading 0 and more digits
  kRestText,  // a number, then text that NCCL ignores
  kNoNumber,  // text: 0
  kEmpty,     // the default applies
  kTooLarge,  // outside 64 bits: the default applies
};

struct NcclInteger {
  std::optional<std::int64_t> value{};  // absent: the variable's default applies
  IntegerForm form = IntegerForm::kEmpty;
};

// As NCCL reads integer variables: blanks and a sign in front, base by prefix (0x, 0, else ten), the rest ignored.
NcclInteger ReadNcclInteger(std::string_view text);

// As NCCL reads the port of a list entry: like the above, but always base ten; text is 0. Numbers that do not fit an
// int give an int that is no port.
int ReadListNumber(std::string_view text);

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_NCCL_INTEGER_H_
