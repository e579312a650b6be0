// Runs a job in a process of its own, which owns the GPU: one that takes too long or crashes is ended,
// and the caller goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "generate/run/measured_run.hpp"

namespace flashlab::generate {

/// The process took longer than its limit and was ended.
class GpuTimeLimit : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the GPU that measure_in_process() uses. Throws GpuUnavailable, GpuError, GpuTimeLimit.
GpuInfo gpu_in_process(double seconds);

struct MeasuredJob {
  GpuTimes times;
  /// By problem, then by array of the job: the elements after the last timed call.
  std::vector<std::vector<std::vector<double>>> results;
};

/// Runs the job (see measured_run), and ends it after `seconds`. `count` may be empty. This process must not have used CUDA
/// before, because a GPU's context does not survive a fork. Throws GpuUnavailable, CompileError,
/// GpuMemoryError, GpuError, GpuTimeLimit.
MeasuredJob measure_in_process(const GpuJob& job, std::span<const std::int64_t> problems,
                               double seconds, const CountLaunches& count);

}  // namespace flashlab::generate
