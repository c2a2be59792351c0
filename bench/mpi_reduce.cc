// SPDX-License-Identifier: Apache-2.0
#include "bench/mpi_reduce.h"

#include <cstdint>
#include <type_traits>

#include "bench/number.h"

namespace nccl_tune::bench {
namespace {

template <typename T, ReduceOp kOp>
void Reduce(void* in, void* in_out, int* length, MPI_Datatype*) {
  const T* const a = static_cast<const T*>(in);
  T* const b = static_cast<T*>(in_out);
  for (int i = 0; i < *length; ++i) {
    if constexpr (std::is_integral_v<T>) {
      b[i] = static_cast<T>(a[i] + b[i]);  // the only one that integers need here
      continue;
    }
    const double x = ToDouble(a[i]);
    const double y = ToDouble(b[i]);
    if constexpr (kOp == ReduceOp::kSum) b[i] = FromDouble<T>(x + y);
    if constexpr (kOp == ReduceOp::kProd) b[i] = FromDouble<T>(x * y);
    if constexpr (kOp == ReduceOp::kMax) b[i] = x > y ? a[i] : b[i];
    if constexpr (kOp == ReduceOp::kMin) b[i] = x < y ? a[i] : b[i];
  }
}

template <typename T>
MPI_User_function* FunctionOf(ReduceOp op) {
  if constexpr (std::is_integral_v<T>) return Reduce<T, ReduceOp::kSum>;
  if (op == ReduceOp::kProd) return Reduce<T, ReduceOp::kProd>;
  if (op == ReduceOp::kMax) return Reduce<T, ReduceOp::kMax>;
  if (op == ReduceOp::kMin) return Reduce<T, ReduceOp::kMin>;
  return Reduce<T, ReduceOp::kSum>;
}

bool Sums(ReduceOp op) { return op != ReduceOp::kProd && op != ReduceOp::kMax && op != ReduceOp::kMin; }

// Null where MPI's own operation does.
MPI_User_function* OwnFunction(DataType type, ReduceOp op) {
  return WithType(type, [&](auto zero) -> MPI_User_function* {
    using T = decltype(zero);
    if constexpr (!std::is_arithmetic_v<T>) return FunctionOf<T>(op);
    if constexpr (std::is_integral_v<T> && sizeof(T) == 1) return Sums(op) ? FunctionOf<T>(op) : nullptr;
    return nullptr;
  });
}

MPI_Op BuiltIn(ReduceOp op) {
  if (op == ReduceOp::kProd) return MPI_PROD;
  if (op == ReduceOp::kMax) return MPI_MAX;
  if (op == ReduceOp::kMin) return MPI_MIN;
  return MPI_SUM;
}

template <typename T>
MPI_Datatype MpiType() {
  if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
  if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
  constexpr bool kSigned = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return kSigned ? MPI_INT8_T : MPI_UINT8_T;
  if constexpr (sizeof(T) == 2) return MPI_UINT16_T;
  if constexpr (sizeof(T) == 4) return kSigned ? MPI_INT32_T : MPI_UINT32_T;
  return kSigned ? MPI_INT64_T : MPI_UINT64_T;
}

}  // namespace

MPI_Datatype MpiTypeOf(DataType type) {
  return WithType(type, [](auto zero) { return MpiType<decltype(zero)>(); });
}

MpiOps::~MpiOps() {
  for (auto& [key, op] : own_) MPI_Op_free(&op);
}

MPI_Op MpiOps::Of(DataType type, ReduceOp op) {
  MPI_User_function* const function = OwnFunction(type, op);
  if (function == nullptr) return BuiltIn(op);
  const auto key = std::pair(type, op);
  if (const auto found = own_.find(key); found != own_.end()) return found->second;
  MPI_Op made = MPI_OP_NULL;
  constexpr int kCommutes = 1;
  if (MPI_Op_create(function, kCommutes, &made) != MPI_SUCCESS) return MPI_OP_NULL;
  own_[key] = made;
  return made;
}

}  // namespace nccl_tune::bench
