// Operations that go on while their thread does: bulk copies and wgmma. Each reads its operands at
// a random moment after it was issued, and writes its results at a random later one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attention_cuda/emulation/async/shared_views.hpp"
#include "attention_cuda/emulation/run_queue.hpp"

namespace flashlab::cuda::emulation {

struct AsyncOperation {
  std::string name;  // "bulk load 3 of thread 0"
  std::vector<SharedRange> reads, writes;
  std::function<void()> read, write;
  std::shared_ptr<AsyncOperation> before;  // must be complete first; may be null
  bool has_read = false, is_complete = false;
};
using AsyncHandle = std::shared_ptr<AsyncOperation>;

class AsyncOperations {
 public:
  /// Throws std::logic_error if an operation in flight still reads what this one writes, or writes
  /// what this one reads or writes, unless that one is before it.
  void issue(AsyncHandle operation);
  /// One step of a random operation. False if none is in flight.
  bool advance(Random& random);
  /// Completes an operation and those before it; with `only_reads`, until it has read.
  void complete(const AsyncHandle& operation, bool only_reads = false);
  /// Throws if an operation in flight uses these bytes, which `writer` writes.
  void require_unused(SharedRange bytes, const std::string& writer) const;
  const std::vector<AsyncHandle>& in_flight() const { return in_flight_; }
  void forget() { in_flight_.clear(); }

 private:
  static void step(AsyncOperation& operation);
  void remove_complete();

  std::vector<AsyncHandle> in_flight_;
};

}  // namespace flashlab::cuda::emulation
