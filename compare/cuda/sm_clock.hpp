// Measures the clock of the multiprocessors while other kernels run.
#pragma once

#include <optional>

#include "attention_cuda/gpu.hpp"

namespace flashlab::compare {

/// Reads the clock counters of the multiprocessors and the GPU's time before and after other work on
/// the default stream.
class SmClock {
 public:
  /// Throws NoDeviceMemory, CudaError.
  SmClock();

  /// Throws CudaError, as end().
  void start() { mark(0); }
  void end() { mark(1); }

  /// Waits for the GPU. Returns the mean clock between start() and end(), in GHz, of the
  /// multiprocessor in the middle; nothing: none had a block both times.
  std::optional<double> ghz() const;

 private:
  void mark(int which);

  [[maybe_unused]] int num_sms_;  // the emulated clock has no multiprocessors
  cuda::DeviceMemory marks_;
};

}  // namespace flashlab::compare
