// SPDX-License-Identifier: Apache-2.0
//
// The data types and reduction operations that the benchmark measures, under nccl-tests' names. Pure; also compiled for
// the GPU, therefore free of anything but the language.
#ifndef NCCL_TUNE_BENCH_TYPES_H_
#define NCCL_TUNE_BENCH_TYPES_H_

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace nccl_tune::bench {

enum class DataType {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kHalf,
  kFloat,
  kDouble,
  kBfloat16,
  kF8e4m3,
  kF8e5m2
};
// kMulsum: each rank's input times a number of its own, then the sum (ncclRedOpCreatePreMulSum).
enum class ReduceOp { kSum, kProd, kMax, kMin, kAvg, kMulsum };

struct TypeName {
  DataType type;
  std::string_view name;
  std::uint64_t bytes;
};

inline constexpr std::array<TypeName, 12> kTypes = {{{DataType::kInt8, "int8", 1},
                                                     {DataType::kUint8, "uint8", 1},
                                                     {DataType::kInt32, "int32", 4},
                                                     {DataType::kUint32, "uint32", 4},
                                                     {DataType::kInt64, "int64", 8},
                                                     {DataType::kUint64, "uint64", 8},
                                                     {DataType::kHalf, "half", 2},
                                                     {DataType::kFloat, "float", 4},
                                                     {DataType::kDouble, "double", 8},
                                                     {DataType::kBfloat16, "bfloat16", 2},
                                                     {DataType::kF8e4m3, "f8e4m3", 1},
                                                     {DataType::kF8e5m2, "f8e5m2", 1}}};

struct OpName {
  ReduceOp op;
  std::string_view name;
};

inline constexpr std::array<OpName, 6> kOps = {{{ReduceOp::kSum, "sum"},
                                                {ReduceOp::kProd, "prod"},
                                                {ReduceOp::kMax, "max"},
                                                {ReduceOp::kMin, "min"},
                                                {ReduceOp::kAvg, "avg"},
                                                {ReduceOp::kMulsum, "mulsum"}}};

constexpr std::string_view NameOf(DataType type) { return kTypes[static_cast<std::size_t>(type)].name; }
constexpr std::string_view NameOf(ReduceOp op) { return kOps[static_cast<std::size_t>(op)].name; }
constexpr std::uint64_t BytesOf(DataType type) { return kTypes[static_cast<std::size_t>(type)].bytes; }

// A 16-bit floating-point number of `kExponentBits` bits of exponent, as it lies in memory.
template <int kExponentBits>
struct Small {
  std::uint16_t bits;
};
using Half = Small<5>;
using Bfloat16 = Small<8>;

// The same in 8 bits. E4M3 has no infinity: its largest number is 448 (0x7e), 0x7f and 0xff are no numbers. E5M2 is as
// IEEE 754 would have it: its largest number is 57344 (0x7b). Source: OCP 8-bit Floating Point Specification
// (OFP8) 1.0.
template <int kExponentBits>
struct Tiny {
  std::uint8_t bits;
};
using F8e4m3 = Tiny<4>;
using F8e5m2 = Tiny<5>;

// Calls `use(T{})` with the C++ type of `type`.
template <typename Use>
auto WithType(DataType type, Use&& use) {
  switch (type) {
    case DataType::kInt8:
      return use(std::int8_t{});
    case DataType::kUint8:
      return use(std::uint8_t{});
    case DataType::kInt32:
      return use(std::int32_t{});
    case DataType::kUint32:
      return use(std::uint32_t{});
    case DataType::kInt64:
      return use(std::int64_t{});
    case DataType::kUint64:
      return use(std::uint64_t{});
    case DataType::kHalf:
      return use(Half{});
    case DataType::kDouble:
      return use(double{});
    case DataType::kBfloat16:
      return use(Bfloat16{});
    case DataType::kF8e4m3:
      return use(F8e4m3{});
    case DataType::kF8e5m2:
      return use(F8e5m2{});
    case DataType::kFloat:
      break;
  }
  return use(float{});
}

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_TYPES_H_
