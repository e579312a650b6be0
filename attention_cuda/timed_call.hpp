// A call on tensors of its own, measured: new inputs, poisoned outputs, an empty L2, CUDA events.
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

/// The tensors of a problem in device memory, row-major; those that only the backward pass has are
/// empty in a forward call's.
class DeviceTensors {
 public:
  /// Throws NoDeviceMemory, CudaError; ProblemError: float64.
  DeviceTensors(const AttentionProblem& problem, Pass pass);

  ForwardTensors forward() const;
  BackwardTensors backward() const;
  /// Q, K, V; backward also dO.
  std::vector<TensorView> inputs() const;
  /// O, lse; backward dQ, dK, dV.
  std::vector<TensorView> outputs() const;

 private:
  TensorView make(const char* name, DataType dtype, const std::vector<std::int64_t>& shape);

  Pass pass_;
  std::vector<DeviceMemory> memory_;
  TensorView Q_, K_, V_, O_, lse_, dO_, dQ_, dK_, dV_;
};

/// The bytes of a row-major tensor.
std::size_t bytes_of(const TensorView& tensor);

/// One variant, the kernel that runs it, and the memory of both.
class TimedCall {
 public:
  /// `execution` without workspace and observer, which come from here. Throws ProblemError where no
  /// kernel can, NoDeviceMemory, CudaError.
  TimedCall(std::string_view variant, const AttentionProblem& problem,
            const ExecutionOptions& execution);

  const DeviceTensors& tensors() const { return tensors_; }
  std::string_view kernel() const { return row_.stem; }
  std::size_t workspace_bytes() const { return workspace_.bytes(); }

  /// New inputs; O and lse of a backward call by prepare().
  void draw_inputs(std::uint64_t seed);
  /// What a backward call needs of the forward pass (flash2's), from the inputs.
  void prepare();
  /// Milliseconds of one call. Fills the outputs with NaN and flushes L2 before it.
  double time_ms();
  /// The same call, kernel by kernel.
  std::vector<KernelTime> kernel_times();
  /// The call untimed, for whoever watches it otherwise: between clear(), which is what comes
  /// before a timed call, too, and a wait for the GPU, which is the caller's.
  void run(KernelObserver* observer);
  /// Fills the outputs with NaN and flushes L2.
  void clear();
  /// Throws std::runtime_error if an output has NaN: it was not written, or is wrong.
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

/// `repeat` calls after one that warms up, each on new inputs; every output is looked through.
/// Throws std::runtime_error: NaN in an output.
Samples sample(TimedCall& call, int repeat, std::uint64_t seed);

/// The same number of calls, kernel by kernel: of each name, the median of its sums.
std::vector<KernelTotal> sample_by_kernel(TimedCall& call, int repeat, std::uint64_t seed);

}  // namespace flashlab::cuda
