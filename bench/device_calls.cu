// SPDX-License-Identifier: Apache-2.0
#include "bench/device_calls.h"

#if __has_include(<nccl_device.h>)
#define NCCL_TUNE_HAS_DEVICE_INTERFACE 1
#include <cuda_fp16.h>
#include <nccl_device.h>
#else
#define NCCL_TUNE_HAS_DEVICE_INTERFACE 0
#endif

#include <dlfcn.h>

#include <string>
#include <type_traits>

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Status;

// Implementations, with nccl-tests' numbers.
constexpr int kScalar = 1;
constexpr int kVector = 2;
constexpr int kThird = 3;  // all_reduce: multimem; alltoall: GIN
constexpr int kFourth = 4;

}  // namespace

bool HasDeviceType(DataType type) {
  switch (type) {
    case DataType::kBfloat16:
    case DataType::kF8e4m3:
    case DataType::kF8e5m2:
      return false;
    default:
      return true;
  }
}

#if NCCL_TUNE_HAS_DEVICE_INTERFACE

struct DeviceCommunicator {
  ncclDevComm communicator{};
};

namespace {

constexpr int kThreads = 512;
// 2.29 changed the layout that kernels see.
constexpr int kSplit = Version(2, 29);

// One rank's place in a grid that spans all ranks: each element has one thread of one rank.
struct Share {
  std::size_t first;
  std::size_t step;
};
__device__ Share ShareOf(const ncclDevComm& communicator) {
  const auto ranks = static_cast<std::size_t>(communicator.nRanks);
  const std::size_t block = static_cast<std::size_t>(communicator.rank) + blockIdx.x * ranks;
  return {threadIdx.x + blockDim.x * block, static_cast<std::size_t>(blockDim.x) * gridDim.x * ranks};
}

template <typename T>
__device__ T* PeerOf(ncclWindow_t window, std::size_t offset, int peer) {
  return static_cast<T*>(ncclGetLsaPointer(window, offset, peer));
}

// 16 bytes of T, added element by element.
template <typename T>
struct alignas(16) Pack {
  T values[16 / sizeof(T)];
};
template <typename T>
__device__ void AddTo(Pack<T>& sum, const Pack<T>& other) {
#pragma unroll
  for (int i = 0; i < static_cast<int>(16 / sizeof(T)); ++i) sum.values[i] = sum.values[i] + other.values[i];
}
template <typename T>
__device__ void AddTo(T& sum, const T& other) {
  sum = sum + other;
}

// Element `at` of all ranks' sending windows, summed in rank order, into all receiving windows.
template <typename E>
__device__ void SumOne(ncclWindow_t send, std::size_t send_at, ncclWindow_t receive, std::size_t receive_at, int ranks,
                       std::size_t at) {
  E sum = PeerOf<E>(send, send_at, 0)[at];
  for (int peer = 1; peer < ranks; ++peer) AddTo(sum, PeerOf<E>(send, send_at, peer)[at]);
  for (int peer = 0; peer < ranks; ++peer) PeerOf<E>(receive, receive_at, peer)[at] = sum;
}

struct Windows {
  ncclWindow_t send;
  std::size_t send_at;
  ncclWindow_t receive;
  std::size_t receive_at;
  std::size_t count;
};

template <typename T>
__global__ void SumScalar(Windows windows, ncclDevComm communicator) {
  ncclLsaBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x);
  barrier.sync(ncclCoopCta(), cuda::memory_order_acquire);
  const Share share = ShareOf(communicator);
  for (std::size_t i = share.first; i < windows.count; i += share.step) {
    SumOne<T>(windows.send, windows.send_at, windows.receive, windows.receive_at, communicator.nRanks, i);
  }
  barrier.sync(ncclCoopCta(), cuda::memory_order_release);
}

template <typename T>
__global__ void SumVector(Windows windows, ncclDevComm communicator) {
  ncclLsaBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x);
  barrier.sync(ncclCoopCta(), cuda::memory_order_acquire);
  const Share share = ShareOf(communicator);
  const int ranks = communicator.nRanks;
  // Windows begin at 16 bytes; both offsets must do so too for packs.
  const bool packs = windows.send_at % 16 == 0 && windows.receive_at % 16 == 0;
  const std::size_t in_packs = packs ? windows.count * sizeof(T) / 16 : 0;
  for (std::size_t i = share.first; i < in_packs; i += share.step) {
    SumOne<Pack<T>>(windows.send, windows.send_at, windows.receive, windows.receive_at, ranks, i);
  }
  const std::size_t done = in_packs * (16 / sizeof(T));
  for (std::size_t i = done + share.first; i < windows.count; i += share.step) {
    SumOne<T>(windows.send, windows.send_at, windows.receive, windows.receive_at, ranks, i);
  }
  barrier.sync(ncclCoopCta(), cuda::memory_order_release);
}

// Sums in the switch: one load adds up all ranks' elements, one store reaches them all (PTX multimem, sm_90).
template <typename T>
__device__ T LoadSum(const T* address) {
  T sum{};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (std::is_same_v<T, float>) {
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];" : "=f"(sum) : "l"(address) : "memory");
  } else if constexpr (std::is_same_v<T, double>) {
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f64 %0, [%1];" : "=d"(sum) : "l"(address) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];" : "=r"(sum) : "l"(address) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u64 %0, [%1];" : "=l"(sum) : "l"(address) : "memory");
  }
#endif
  return sum;
}
template <typename T>
__device__ void StoreAll(T* address, T value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (std::is_same_v<T, float>) {
    asm volatile("multimem.st.relaxed.sys.global.f32 [%0], %1;" ::"l"(address), "f"(value) : "memory");
  } else if constexpr (std::is_same_v<T, double>) {
    asm volatile("multimem.st.relaxed.sys.global.f64 [%0], %1;" ::"l"(address), "d"(value) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("multimem.st.relaxed.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("multimem.st.relaxed.sys.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
  }
#endif
}

template <typename T, int kUnroll>
__global__ void SumInSwitch(Windows windows, ncclDevComm communicator) {
  ncclLsaBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x, true);
  barrier.sync(ncclCoopCta(), cuda::memory_order_acquire);
  const Share share = ShareOf(communicator);
  const T* const from = static_cast<T*>(ncclGetLsaMultimemPointer(windows.send, windows.send_at, communicator));
  T* const to = static_cast<T*>(ncclGetLsaMultimemPointer(windows.receive, windows.receive_at, communicator));
  for (std::size_t i = share.first; i < windows.count; i += share.step * kUnroll) {
    T sums[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const std::size_t at = i + static_cast<std::size_t>(k) * share.step;
      if (at < windows.count) sums[k] = LoadSum(from + at);
    }
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const std::size_t at = i + static_cast<std::size_t>(k) * share.step;
      if (at < windows.count) StoreAll(to + at, sums[k]);
    }
  }
  barrier.sync(ncclCoopCta(), cuda::memory_order_release);
}

// Element `at` of this rank's part for each peer, into the peer's window.
template <typename E>
__device__ void SendOne(const Windows& windows, std::size_t part, const ncclDevComm& communicator, std::size_t at) {
  const E* const from = static_cast<E*>(ncclGetLocalPointer(windows.send, windows.send_at));
  const auto rank = static_cast<std::size_t>(communicator.rank);
  for (int peer = 0; peer < communicator.nRanks; ++peer) {
    PeerOf<E>(windows.receive, windows.receive_at, peer)[rank * part + at] =
        from[static_cast<std::size_t>(peer) * part + at];
  }
}

template <typename T, bool kInPacks>
__global__ void SendParts(Windows windows, ncclDevComm communicator) {
  ncclLsaBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x);
  barrier.sync(ncclCoopCta(), cuda::memory_order_acquire);
  const std::size_t first = threadIdx.x + static_cast<std::size_t>(blockDim.x) * blockIdx.x;
  const std::size_t step = static_cast<std::size_t>(blockDim.x) * gridDim.x;
  const std::size_t bytes = windows.count * sizeof(T);
  const bool packs = kInPacks && bytes % 16 == 0 && windows.send_at % 16 == 0 && windows.receive_at % 16 == 0;
  if (packs) {
    for (std::size_t i = first; i < bytes / 16; i += step) SendOne<Pack<T>>(windows, bytes / 16, communicator, i);
  } else {
    for (std::size_t i = first; i < windows.count; i += step) SendOne<T>(windows, windows.count, communicator, i);
  }
  barrier.sync(ncclCoopCta(), cuda::memory_order_release);
}

// Calls `use(T{})` with the type that the kernels compute in.
template <typename Use>
cudaError_t WithDeviceType(DataType type, Use use) {
  return WithType(type, [&use](auto zero) {
    if constexpr (std::is_arithmetic_v<decltype(zero)>) {
      return use(zero);
    } else if constexpr (std::is_same_v<decltype(zero), Half>) {
      return use(__half{});
    } else {
      return cudaErrorNotSupported;
    }
  });
}

template <typename T>
cudaError_t LaunchSum(const ncclDevComm& communicator, const DeviceCall& call, const Windows& windows,
                      cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(call.blocks);
  if (call.implementation == kScalar) {
    SumScalar<T><<<blocks, kThreads, 0, stream>>>(windows, communicator);
  } else if (call.implementation == kVector) {
    SumVector<T><<<blocks, kThreads, 0, stream>>>(windows, communicator);
  } else if constexpr (sizeof(T) >= 4) {
    if (call.implementation == kThird) {
      SumInSwitch<T, 1><<<blocks, kThreads, 0, stream>>>(windows, communicator);
    } else {
      SumInSwitch<T, 8><<<blocks, kThreads, 0, stream>>>(windows, communicator);
    }
  } else {
    return cudaErrorNotSupported;
  }
  return cudaGetLastError();
}

template <typename T>
cudaError_t LaunchParts(const ncclDevComm& communicator, const DeviceCall& call, const Windows& windows,
                        cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(call.blocks);
  if (call.implementation == kScalar) {
    SendParts<T, false><<<blocks, kThreads, 0, stream>>>(windows, communicator);
  } else {
    SendParts<T, true><<<blocks, kThreads, 0, stream>>>(windows, communicator);
  }
  return cudaGetLastError();
}

using CreateFunction = decltype(&::ncclDevCommCreate);

}  // namespace

Status CheckDeviceCalls(const NcclLibrary& library, CollectiveKind kind, int implementation) {
  const int most = kind == CollectiveKind::kAllReduce ? kFourth : (kind == CollectiveKind::kAlltoall ? kVector : 0);
  if (implementation > most) {
    return Error{.code = Code::kUnsupported,
                 .what = most == 0 ? "only all_reduce and alltoall have kernels of their own"
                                   : "there is no such kernel for this collective",
                 .where = "-D",
                 .seen = std::to_string(implementation),
                 .expected = "0 to " + std::to_string(most)};
  }
  const bool same_side = (library.version >= kSplit) == (NCCL_VERSION_CODE >= kSplit);
  if (library.version < Version(2, 28) || !same_side) {
    return Error{.code = Code::kInvalidInput,
                 .what = "the kernels were built for NCCL " + VersionText(NCCL_VERSION_CODE) +
                         ", whose device interface this library does not have",
                 .where = "-D",
                 .seen = "NCCL " + VersionText(library.version),
                 .expected = NCCL_VERSION_CODE >= kSplit ? "2.29 or later" : "2.28"};
  }
  return base::Ok();
}

ncclResult_t MakeDeviceCommunicator(const NcclLibrary& library, ncclComm_t communicator, CollectiveKind kind,
                                    int implementation, int blocks, DeviceCommunicator** made) {
  const auto create = reinterpret_cast<CreateFunction>(dlsym(library.handle, "ncclDevCommCreate"));
  if (create == nullptr) return ncclInvalidUsage;
#if NCCL_VERSION_CODE >= 22900
  ncclDevCommRequirements needs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
#else
  ncclDevCommRequirements needs{};
#endif
  needs.lsaBarrierCount = blocks;
  needs.lsaMultimem = kind == CollectiveKind::kAllReduce && implementation >= kThird;
  *made = new DeviceCommunicator;
  return create(communicator, &needs, &(*made)->communicator);
}

bool ReachesAll(const DeviceCommunicator& communicator) {
  return communicator.communicator.lsaSize == communicator.communicator.nRanks;
}

cudaError_t LaunchDeviceCall(const DeviceCommunicator& communicator, const DeviceCall& call, cudaStream_t stream) {
  const Windows windows{static_cast<ncclWindow_t>(call.send_window), call.send_offset,
                        static_cast<ncclWindow_t>(call.receive_window), call.receive_offset, call.count};
  return WithDeviceType(call.type, [&](auto zero) {
    using T = decltype(zero);
    return call.kind == CollectiveKind::kAllReduce ? LaunchSum<T>(communicator.communicator, call, windows, stream)
                                                   : LaunchParts<T>(communicator.communicator, call, windows, stream);
  });
}

#else  // no device interface in these headers

struct DeviceCommunicator {};

Status CheckDeviceCalls(const NcclLibrary&, CollectiveKind, int implementation) {
  return Error{.code = Code::kUnsupported,
               .what = "this nccl-bench was built with headers of NCCL " + VersionText(NCCL_VERSION_CODE) +
                       ", which have no device interface",
               .where = "-D",
               .seen = std::to_string(implementation),
               .hint = "Build with NCCL 2.28 or later."};
}

ncclResult_t MakeDeviceCommunicator(const NcclLibrary&, ncclComm_t, CollectiveKind, int, int, DeviceCommunicator**) {
  return ncclInvalidUsage;
}

bool ReachesAll(const DeviceCommunicator&) { return false; }

cudaError_t LaunchDeviceCall(const DeviceCommunicator&, const DeviceCall&, cudaStream_t) {
  return cudaErrorNotSupported;
}

#endif

}  // namespace nccl_tune::bench
