// Stacks to run on, and the switch from one to another.
#pragma once

#include <cstddef>

namespace flashlab::cuda::emulation {

/// A stack, and where the work on it goes on.
class Context {
 public:
  /// The stack of the thread that constructs it.
  Context();
  /// A stack of its own, 256 KiB: the first switch to it calls `entry`, which never returns.
  /// Contexts of different `index` use different cache lines.
  Context(void (*entry)(), int index);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Leaves this context, which is the running one, until somebody switches back to it.
  void switch_to(Context& next);
  /// To be called first by `entry`.
  void entered();

 private:
  void prepare(void (*entry)(), std::byte* top);

  void* position_ = nullptr;     // the stack pointer while another context runs
  std::byte* memory_ = nullptr;  // what was mapped: a page that faults, then the stack
  // What the sanitizers want to know.
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace flashlab::cuda::emulation
