#include "attention_cuda/emulation/context.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define FLASHLAB_ASAN
#elif defined(__SANITIZE_THREAD__)
#define FLASHLAB_TSAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FLASHLAB_ASAN
#elif __has_feature(thread_sanitizer)
#define FLASHLAB_TSAN
#endif
#endif

#if defined(FLASHLAB_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(FLASHLAB_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__)
// Saves the callee-saved registers, stores the stack pointer, switches to the other one,
// restores and returns.
extern "C" void flashlab_emulation_switch(void** store_position, void* position);
asm(R"(
.text
.p2align 4
.globl flashlab_emulation_switch
.hidden flashlab_emulation_switch
.type flashlab_emulation_switch, @function
flashlab_emulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size flashlab_emulation_switch, .-flashlab_emulation_switch
)");
#else
#include <ucontext.h>
#endif

namespace flashlab::cuda::emulation {
namespace {

constexpr std::size_t kStackBytes = 256 << 10, kGuardBytes = 64 << 10;

/// Without it, hot frames at equal offsets in their pages would share the few cache lines
/// of one set.
std::size_t offset_from_top(int index) { return static_cast<std::size_t>(index % 32) * 512; }

thread_local Context* left_last = nullptr;

}  // namespace

#if defined(__x86_64__)
void Context::prepare(void (*entry)(), std::byte* top) {
  // Six registers, the return address, and the caller's return address, which is 8 bytes below a
  // multiple of 16 at the start of any function and is 0 here.
  auto* slots = reinterpret_cast<std::uintptr_t*>(top) - 8;
  for (int i = 0; i < 8; ++i) slots[i] = 0;
  slots[6] = reinterpret_cast<std::uintptr_t>(entry);
  position_ = slots;
}
#else
void Context::prepare(void (*entry)(), std::byte* top) {
  auto* position = new ucontext_t;
  getcontext(position);
  position->uc_stack.ss_sp = memory_ + kGuardBytes;
  position->uc_stack.ss_size = static_cast<std::size_t>(top - (memory_ + kGuardBytes));
  position->uc_link = nullptr;
  makecontext(position, entry, 0);
  position_ = position;
}
#endif

Context::Context() {  // NOLINT(modernize-use-equals-default): other processors need a body
#if !defined(__x86_64__)
  position_ = new ucontext_t;
#endif
#if defined(FLASHLAB_TSAN)
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
}

Context::Context(void (*entry)(), int index) {
  void* memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
  mprotect(memory_, kGuardBytes, PROT_NONE);
  bottom_ = memory_ + kGuardBytes;
  size_ = kStackBytes;
  prepare(entry, memory_ + kGuardBytes + kStackBytes - offset_from_top(index));
#if defined(FLASHLAB_TSAN)
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

Context::~Context() {
#if !defined(__x86_64__)
  delete static_cast<ucontext_t*>(position_);
#endif
  if (memory_ == nullptr) return;
#if defined(FLASHLAB_ASAN)
  if (fake_stack_ != nullptr) {  // only the context itself can free it: 11 MB
    Context here;
    ends_ = true;
    here.switch_to(*this);
  }
  __asan_unpoison_memory_region(memory_ + kGuardBytes, kStackBytes);
#elif defined(FLASHLAB_TSAN)
  __tsan_destroy_fiber(tsan_fiber_);
#endif
  munmap(memory_, kGuardBytes + kStackBytes);
}

void Context::switch_to(Context& next) {
  left_last = this;
#if defined(FLASHLAB_ASAN)
  __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.size_);
#elif defined(FLASHLAB_TSAN)
  __tsan_switch_to_fiber(next.tsan_fiber_, 0);
#endif
#if defined(__x86_64__)
  flashlab_emulation_switch(&position_, next.position_);
#else
  swapcontext(static_cast<ucontext_t*>(position_), static_cast<ucontext_t*>(next.position_));
#endif
  entered();
}

void Context::entered() {
#if defined(FLASHLAB_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack_, &left_last->bottom_, &left_last->size_);
  if (ends_) leave_for_ever(*left_last);
#endif
}

/// Frees what ASan has for this context. Destructors of what is on its stack do not run.
void Context::leave_for_ever([[maybe_unused]] const Context& next) {
#if defined(FLASHLAB_ASAN)
  left_last = this;
  __sanitizer_start_switch_fiber(nullptr, next.bottom_, next.size_);
#if defined(__x86_64__)
  flashlab_emulation_switch(&position_, next.position_);
#else
  setcontext(static_cast<const ucontext_t*>(next.position_));
#endif
#endif
}

}  // namespace flashlab::cuda::emulation

#undef FLASHLAB_ASAN
#undef FLASHLAB_TSAN
