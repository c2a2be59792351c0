// SPDX-License-Identifier: Apache-2.0
//
// For tests: an NVML with two GPUs and a third that is not ours. FAKE_NVML says what is odd about it.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

bool Is(std::string_view mood) {
  const char* set = std::getenv("FAKE_NVML");
  return set != nullptr && mood == set;
}

struct PciInfo {
  char short_name[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char name[32];
};
struct Process {
  unsigned process;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct Violation {
  unsigned long long reference, held;
};

unsigned IndexOf(void* gpu) { return static_cast<unsigned>(reinterpret_cast<unsigned long>(gpu) - 1); }

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (Is("hangs at start")) pause();
  if (Is("crashes at start")) raise(SIGSEGV);
  return Is("no driver") ? 9 : 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  if (Is("hangs")) pause();
  if (Is("crashes")) raise(SIGSEGV);
  if (Is("ends the process")) _exit(0);
  if (Is("no count")) return 999;
  *count = Is("huge count") ? ~0U : (Is("none") ? 0 : 3);
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
  if (index > 2) return 2;
  if (index == 2) return 4;  // no permission
  *gpu = reinterpret_cast<void*>(static_cast<unsigned long>(index + 1));
  return 0;
}

int nvmlDeviceGetPciInfo_v3(void* gpu, PciInfo* out) {
  std::memset(out, 0, sizeof *out);
  out->bus = Is("odd places") ? 4711 : 0x18 + IndexOf(gpu);
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* gpu, unsigned* count, Process* out) {
  if (Is("many processes")) {
    *count = 100000;
    return 7;
  }
  if (Is("wrong count")) {
    *count = 100000;
    return 0;
  }
  *count = 2;
  out[0] = {100 + IndexOf(gpu), 1, 0, 0};
  out[1] = {4711, 1, 0, 0};
  return 0;
}

int nvmlDeviceGetClockInfo(void*, int, unsigned* clock) {
  *clock = 1500;
  return Is("no clocks") ? 3 : 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int, unsigned* clock) {
  *clock = 1980;
  return Is("no clocks") ? 3 : 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x20;
  return 0;
}
int nvmlDeviceGetViolationStatus(void*, int policy, Violation* out) {
  *out = {1, policy == 0 ? 5ULL : 7ULL};
  return 0;
}
}
