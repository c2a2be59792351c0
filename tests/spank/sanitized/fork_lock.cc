// SPDX-License-Identifier: Apache-2.0
//
// No thread is in the sanitizer's allocator while another one forks. slurmstepd forks its tasks beside threads of its
// own, and the allocator of Clang 14 does not let go of its locks in the child, which then waits for ever in its next
// free. Everything that allocates passes here on its way to the runtime, which is the next library.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>

namespace {

// No function of the C library's here: the runtime stands before most of them, and has not begun when the first comes.
class ForkLock {
 public:
  void Lock() {
    if (owner_.load() == &self_) {
      ++depth_;
      return;
    }
    const char* nobody = nullptr;
    while (!owner_.compare_exchange_weak(nobody, &self_)) {
      nobody = nullptr;
      sched_yield();
    }
    depth_ = 1;
  }
  void Unlock() {
    if (--depth_ == 0) owner_.store(nullptr);
  }

 private:
  [[gnu::tls_model("initial-exec")]] static thread_local const char self_;  // reached without a call
  std::atomic<const char*> owner_{nullptr};
  int depth_ = 0;  // the owner's
};
[[gnu::tls_model("initial-exec")]] thread_local const char ForkLock::self_ = 0;

ForkLock lock;

class Locked {
 public:
  Locked() { lock.Lock(); }
  ~Locked() { lock.Unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

void BeforeFork() { lock.Lock(); }
void AfterFork() { lock.Unlock(); }  // the child's thread is the one that forked

__attribute__((constructor)) void Begin() { pthread_atfork(&BeforeFork, &AfterFork, &AfterFork); }

bool finding = false;

// The next library's function of that name; null while that library begins, as dlsym finds nothing then, and for what
// dlsym itself takes and gives back.
template <typename Function>
bool Find(const char* name, Function** next) {
  if (*next == nullptr && !finding) {
    finding = true;
    *next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
    finding = false;
  }
  return *next != nullptr;
}

// What is taken in that time, a few messages of the dynamic loader, comes from here and is never given back.
alignas(16) char early[64 << 10];
std::size_t early_used = 0;

void* TakeEarly(std::size_t size) {
  void* out = early + early_used;
  early_used += (size + 15) / 16 * 16;
  return early_used <= sizeof early ? out : nullptr;
}

bool IsEarly(const void* block) { return block >= early && block < early + sizeof early; }

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void* malloc(std::size_t size) noexcept {
  static void* (*next)(std::size_t) = nullptr;
  const Locked locked;
  return Find("malloc", &next) ? next(size) : TakeEarly(size);
}

EXPORTED void* calloc(std::size_t count, std::size_t size) noexcept {
  static void* (*next)(std::size_t, std::size_t) = nullptr;
  const Locked locked;
  return Find("calloc", &next) ? next(count, size) : TakeEarly(count * size);
}

EXPORTED void free(void* block) noexcept {
  static void (*next)(void*) = nullptr;
  const Locked locked;
  if (!IsEarly(block) && Find("free", &next)) next(block);
}

EXPORTED void* realloc(void* block, std::size_t size) noexcept {
  static void* (*next)(void*, std::size_t) = nullptr;
  const Locked locked;
  if (!IsEarly(block)) return Find("realloc", &next) ? next(block, size) : TakeEarly(size);
  auto* out = static_cast<char*>(malloc(size));
  const auto* from = static_cast<const volatile char*>(block);
  const auto left = static_cast<std::size_t>(early + sizeof early - static_cast<char*>(block));
  for (std::size_t i = 0; out != nullptr && i < size && i < left; ++i) out[i] = from[i];
  return out;
}

#define PASS_ON(result, name, parameters, arguments, otherwise) \
  EXPORTED result name parameters noexcept {                    \
    static result(*next) parameters = nullptr;                  \
    const Locked locked;                                        \
    return Find(#name, &next) ? next arguments : otherwise;     \
  }

PASS_ON(void*, memalign, (std::size_t alignment, std::size_t size), (alignment, size), nullptr)
PASS_ON(void*, aligned_alloc, (std::size_t alignment, std::size_t size), (alignment, size), nullptr)
PASS_ON(int, posix_memalign, (void** block, std::size_t alignment, std::size_t size), (block, alignment, size), 12)
PASS_ON(char*, strdup, (const char* text), (text), nullptr)
PASS_ON(char*, __strdup, (const char* text), (text), nullptr)
PASS_ON(char*, strndup, (const char* text, std::size_t size), (text, size), nullptr)
