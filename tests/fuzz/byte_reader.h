// SPDX-License-Identifier: Apache-2.0
//
// Values out of a fuzzer's bytes, for what takes no text. Past the end everything is zero, so that any input will do.
#ifndef NCCL_TUNE_TESTS_FUZZ_BYTE_READER_H_
#define NCCL_TUNE_TESTS_FUZZ_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nccl_tune::fuzz {

class ByteReader {
 public:
  // The bytes must outlive the reader.
  ByteReader(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool AtEnd() const { return rest_.empty(); }
  std::uint8_t Byte();
  bool Flag() { return (Byte() & 1U) != 0; }
  // 0 to `count` - 1; `count` is at least 1 and at most 256.
  std::size_t Below(std::size_t count) { return Byte() % count; }
  std::uint32_t Word();
  // A length byte and that many bytes, at most `limit`.
  std::string Text(std::size_t limit);
  // Up to the next line end or the end.
  std::string_view Line();
  std::string_view Rest();

  template <typename T>
  T Pick(std::span<const T> from) {
    return from[Below(from.size())];
  }

 private:
  std::string_view rest_;
};

// The whole input as text.
inline std::string_view AsText(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// True for one input in `n`, always the same ones: for checks too slow for every run, which a fuzzer that seeks
// coverage must not be able to turn on at will.
inline bool IsOneIn(std::uint32_t n, const std::uint8_t* data, std::size_t size) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 16777619U;
  return (hash >> 8) % n == 0;
}

}  // namespace nccl_tune::fuzz

#endif  // NCCL_TUNE_TESTS_FUZZ_BYTE_READER_H_
