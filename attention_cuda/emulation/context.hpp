// Stacks, and the switch from one to another.
#pragma once

#include <cstddef>

namespace flashlab::cuda::emulation {

/// A stack and its saved position.
class Context {
 public:
  /// Represents the stack of the calling thread.
  Context();
  /// Allocates a stack of 256 KiB. The first switch to it calls `entry`, which never returns.
  /// Contexts of different `index` use different cache lines.
  Context(void (*entry)(), int index);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Suspends this context, the running one, until another one switches back to it.
  void switch_to(Context& next);
  /// `entry` must call this first.
  void entered();

 private:
  void prepare(void (*entry)(), std::byte* top);
  void leave_for_ever(const Context& next);

  void* position_ = nullptr;     // the stack pointer while suspended
  std::byte* memory_ = nullptr;  // the mapped memory: a guard page, then the stack
  // State for the sanitizers.
  [[maybe_unused]] void* fake_stack_ =
      nullptr;  // where clang's ASan puts locals that may outlive a call
  [[maybe_unused]] bool ends_ = false;
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace flashlab::cuda::emulation
