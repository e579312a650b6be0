// What a kernel does while it runs, for tests that record it.
#pragma once

namespace flashlab::cuda::emulation {

/// Hears of operations of the running threads, in the order in which the emulation runs them.
class Observer {
 public:
  virtual ~Observer() = default;
  /// An operation takes an address, of shared or of global memory. Each lane gives its own.
  virtual void took_address(const char* operation, const void* address) = 0;
  /// The thread has come to an operation of its warp, or to a barrier of its block.
  virtual void met(const char* operation) = 0;
};

/// Sets who hears; null: nobody, as initially. Blocks must run on one processor thread.
void set_observer(Observer* observer);

}  // namespace flashlab::cuda::emulation
