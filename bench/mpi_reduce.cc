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
  switch (op) {
    case ReduceOp::kProd:
      return Reduce<T, ReduceOp::kProd>;
    case ReduceOp::kMax:
      return Reduce<T, ReduceOp::kMax>;
    case ReduceOp::kMin:
      return Reduce<T, ReduceOp::kMin>;
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      break;
  }
  return Reduce<T, ReduceOp::kSum>;
}

// Null where MPI's own operation does.
MPI_User_function* OwnFunction(DataType type, ReduceOp op) {
  const bool sums = op == ReduceOp::kSum || op == ReduceOp::kAvg;
  if (type == DataType::kHalf) return FunctionOf<Half>(op);
  if (type == DataType::kBfloat16) return FunctionOf<Bfloat16>(op);
  if (type == DataType::kInt8 && sums) return FunctionOf<std::int8_t>(op);
  if (type == DataType::kUint8 && sums) return FunctionOf<std::uint8_t>(op);
  return nullptr;
}

MPI_Op BuiltIn(ReduceOp op) {
  switch (op) {
    case ReduceOp::kProd:
      return MPI_PROD;
    case ReduceOp::kMax:
      return MPI_MAX;
    case ReduceOp::kMin:
      return MPI_MIN;
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      break;
  }
  return MPI_SUM;
}

}  // namespace

MPI_Datatype MpiTypeOf(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return MPI_INT8_T;
    case DataType::kUint8:
      return MPI_UINT8_T;
    case DataType::kInt32:
      return MPI_INT32_T;
    case DataType::kUint32:
      return MPI_UINT32_T;
    case DataType::kInt64:
      return MPI_INT64_T;
    case DataType::kUint64:
      return MPI_UINT64_T;
    case DataType::kHalf:
    case DataType::kBfloat16:
      return MPI_UINT16_T;
    case DataType::kDouble:
      return MPI_DOUBLE;
    case DataType::kFloat:
      break;
  }
  return MPI_FLOAT;
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
