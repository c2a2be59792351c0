// SPDX-License-Identifier: Apache-2.0
//
// FNV-1a of 64 bits: the same number for the same bytes on every node and in every release. Not against attackers.
#ifndef NCCL_TUNE_BASE_HASH_H_
#define NCCL_TUNE_BASE_HASH_H_

#include <cstdint>
#include <string_view>

namespace nccl_tune::base {

class Hash {
 public:
  constexpr Hash& Add(std::string_view text) {
    for (const char one : text) AddByte(static_cast<unsigned char>(one));
    return *this;
  }
  // Its eight bytes, the lowest first, on every machine.
  constexpr Hash& Add(std::uint64_t number) {
    for (unsigned byte = 0; byte < 8; ++byte) AddByte(static_cast<unsigned char>(number >> (8U * byte)));
    return *this;
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  constexpr void AddByte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3U; }

  std::uint64_t value_ = 0xcbf29ce484222325U;
};

constexpr std::uint64_t HashText(std::string_view text) { return Hash().Add(text).value(); }

}  // namespace nccl_tune::base

#endif  // NCCL_TUNE_BASE_HASH_H_
