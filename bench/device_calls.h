// SPDX-License-Identifier: Apache-2.0
//
// Collectives as kernels of our own over NCCL's device interface (-D): all_reduce and alltoall, sums of the types that
// C++ has and half. Compiled only where NCCL's headers have that interface (2.28 and later).
#ifndef NCCL_TUNE_BENCH_DEVICE_CALLS_H_
#define NCCL_TUNE_BENCH_DEVICE_CALLS_H_

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdint>

#include "base/result.h"
#include "bench/collective.h"
#include "bench/nccl_library.h"
#include "bench/types.h"

namespace nccl_tune::bench {

struct DeviceCommunicator;  // opaque: its layout is the headers'

struct DeviceCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int implementation = 1;  // -D
  int blocks = 16;         // -V
  DataType type = DataType::kFloat;
  std::uint64_t count = 0;  // the collective's
  void* send_window = nullptr;
  std::uint64_t send_offset = 0;  // bytes
  void* receive_window = nullptr;
  std::uint64_t receive_offset = 0;
};

// Why `implementation` of `kind` cannot run with this library; Ok where it can. The Error's code: kUnsupported, or
// kInvalidInput for a library whose interface differs from that of the headers.
base::Status CheckDeviceCalls(const NcclLibrary& library, CollectiveKind kind, int implementation);
// Whether kernels for sums of this type exist.
bool HasDeviceType(DataType type);

// All ranks of the communicator, in an NCCL group. What is made stays until the process ends; null on failure.
ncclResult_t MakeDeviceCommunicator(const NcclLibrary& library, ncclComm_t communicator, CollectiveKind kind,
                                    int implementation, int blocks, DeviceCommunicator** made);

// Whether every rank can read every other's memory, which the kernels need. After the NCCL group of its making.
bool ReachesAll(const DeviceCommunicator& communicator);

cudaError_t LaunchDeviceCall(const DeviceCommunicator& communicator, const DeviceCall& call, cudaStream_t stream);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_DEVICE_CALLS_H_
