// Runs a job on this process's GPU: compiles, draws inputs, poisons outputs, times, and reads results.
// The caller starts a process for it (gpu_process.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "generate/run/device.hpp"
#include "generate/run/job.hpp"

namespace flashlab::generate {

/// The job does not fit into the GPU's memory. what(): bytes needed, bytes free, and of what.
class GpuMemoryError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What the compiler made of one kernel.
struct KernelResources {
  std::string kernel;
  int registers = 0;             // of each thread
  std::int64_t local_bytes = 0;  // of each thread, in DRAM: registers that did not fit
};

struct GpuTimes {
  std::string architecture, nvrtc_version;
  double compile_seconds = 0;
  std::vector<KernelResources> kernels;        // by launch
  std::vector<double> call_ms;                 // of each timed call: all launches
  std::vector<std::vector<double>> launch_ms;  // by launch, of each call in a second series
  std::string counted;                         // what CountLaunches returned
  std::vector<std::int64_t> nan_elements;      // by array, after the last call of call_ms
};

/// Marks the launches of a call for a profiler.
class LaunchMarker {
 public:
  virtual ~LaunchMarker() = default;
  virtual void begin(std::size_t launch) = 0;
  virtual void end() = 0;
};

/// Counts what the hardware does between the marks of `call`, which may run several times. Returns
/// text for the caller of measure_in_process(). `call` does not throw.
using CountLaunches = std::function<std::string(const std::function<void(LaunchMarker&)>& call)>;

/// The inputs of the timed calls are drawn after the compilation. Every output begins as NaN in each
/// call, and L2 is flushed. Copies the arrays of `problems`, as the last timed call left them, to
/// `results`: for each problem, all arrays. Throws GpuUnavailable, CompileError, GpuMemoryError,
/// GpuError.
GpuTimes measured_run(const GpuJob& job, std::span<const std::int64_t> problems,
                      std::span<std::byte> results, const CountLaunches& count);

}  // namespace flashlab::generate
