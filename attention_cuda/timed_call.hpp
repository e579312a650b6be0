// Measures a call on its own tensors: new inputs, poisoned outputs, an empty L2, CUDA events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/gpu.hpp"
#include "attention_cuda/kernel_timer.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {

/// The tensors of a problem in device memory, row-major. Tensors of the backward pass are empty for
/// a forward call.
class DeviceTensors {
 public:
  /// Throws NoDeviceMemory, CudaError; ProblemError: float64.
  DeviceTensors(const AttentionProblem& problem, Pass pass);

  ForwardTensors forward() const;
  BackwardTensors backward() const;
  /// Returns Q, K, V; for backward also dO.
  std::vector<TensorView> inputs() const;
  /// Returns O, lse; for backward dQ, dK, dV.
  std::vector<TensorView> outputs() const;
  /// Of all tensors.
  std::size_t bytes() const;

 private:
  TensorView make(const char* name, DataType dtype, const std::vector<std::int64_t>& shape);

  Pass pass_;
  std::vector<DeviceMemory> memory_;
  TensorView Q_, K_, V_, O_, lse_, dO_, dQ_, dK_, dV_;
};

/// Returns the bytes of a row-major tensor.
std::size_t bytes_of(const TensorView& tensor);

/// One variant, its kernel, and the memory of its tensors.
class TimedCall {
 public:
  /// Ignores workspace and observer of `execution`. Throws ProblemError if no kernel is suitable,
  /// NoDeviceMemory, CudaError.
  TimedCall(std::string_view variant, const AttentionProblem& problem,
            const ExecutionOptions& execution);

  const DeviceTensors& tensors() const { return tensors_; }
  std::string_view kernel() const { return row_.stem; }
  std::size_t workspace_bytes() const { return workspace_.bytes(); }

  /// Draws new inputs. prepare() computes O and lse for a backward call.
  void draw_inputs(std::uint64_t seed);
  /// Runs the forward pass (flash2) for a backward call.
  void prepare();
  /// Returns the milliseconds of one call. Fills the outputs with NaN and flushes L2 before it.
  double time_ms();
  /// Times the same call kernel by kernel.
  std::vector<KernelTime> kernel_times();
  /// Runs the call untimed, for other observers. The caller calls clear() before it, as for a timed
  /// call, and waits for the GPU afterwards.
  void run(KernelObserver* observer);
  /// Fills the outputs with NaN and flushes L2.
  void clear();
  /// Throws std::runtime_error if an output contains NaN: it was not written, or is wrong.
  void check_outputs() const;

 private:
  void call(const ExecutionOptions& execution);
  AttentionOptions options() const;

  AttentionProblem problem_;
  ExecutionOptions execution_;
  const KernelRow& row_;
  Pass pass_;
  DeviceTensors tensors_;
  DeviceMemory workspace_, forward_workspace_, flushed_, found_nan_;
};

/// Runs `repeat` calls after a warm-up, each on new inputs, and checks every output. Throws
/// std::runtime_error: NaN in an output.
Samples sample(TimedCall& call, int repeat, std::uint64_t seed);

/// Runs as many calls kernel by kernel. Returns for each name the median of its sums.
std::vector<KernelTotal> sample_by_kernel(TimedCall& call, int repeat, std::uint64_t seed);

}  // namespace flashlab::cuda
