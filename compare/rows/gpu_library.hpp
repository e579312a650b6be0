// The GPU library: the kernels, and everything else that needs CUDA, in one shared library beside
// the command. The first call here opens it, so that a command without a GPU starts fast.
//
// Found    $FLASHLAB_CUDA_LIBRARY, or libflashlab_cuda.so in the command's folder, in
//          ../lib/flashlab, in ../lib, in the installation's library folder, or in the build folder
// Errors   GpuLibraryMissing: no such library, or a library of another build. Otherwise each call
//          throws the exceptions of its counterpart in attention_cuda/ or compare/cuda/.
// Runtime  each side may have its own C++ runtime: exceptions cross the boundary as Outcomes
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "attention/ranks/rank_process.hpp"
#include "attention/ranks/shards.hpp"
#include "attention_cuda/attention.hpp"
#include "attention_cuda/gpu.hpp"
#include "attention_cuda/ranks/run_on_gpus.hpp"
#include "attention_cuda/samples.hpp"
#include "compare/counters/hardware_counters.hpp"
#include "compare/model/calibrated_rates.hpp"
#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

/// what(): one line that says how to install the library.
class GpuLibraryMissing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One variant on one problem, on the current GPU or on several. The options contain no device memory: the library allocates it.
struct GpuCall {
  std::string variant;
  AttentionProblem problem;
  cuda::ExecutionOptions execution;
  /// A variant over several ranks: how many GPUs, and which tokens each has.
  std::optional<Shards> shards = {};
  RankOptions ranks = {};                 // if ranks.process, all calls are on its GPU
  cuda::OnGpusProgress on_progress = {};  // of sample_on_gpu over several ranks
};

/// The result of a call on tensors of the host.
struct GpuRun {
  double ms = 0;  // of the call alone, without copies
  std::size_t workspace_bytes = 0;
  std::string kernel;
};

struct SampledCall {
  cuda::Samples samples;
  std::size_t workspace_bytes = 0;
  std::string kernel;
};

struct SampledKernels {
  std::vector<cuda::KernelTotal> launches;  // medians
  std::string kernel;
};

struct CalibrationOptions {
  int num_samples = 5;
  double sample_ms = 20;
};

struct CalibrationResult {
  Calibration calibration;            // medians
  std::vector<CalibratedRate> rates;  // with their spread, in the order of kCalibrationKeys
};

struct MeasureOptions {
  int repeat = 5;          // timed calls, after one warm-up
  std::uint64_t seed = 1;  // of the inputs, which differ for each call
  bool counters = true;
};

/// Returns an empty text if the library can be opened, otherwise what() of GpuLibraryMissing.
std::string why_no_gpu_library();

/// Returns the current device. Throws CudaError: no driver, no GPU.
cuda::GpuInfo current_gpu();
/// Copies the inputs to the GPU, runs the call once, and copies the outputs back. Throws
/// ProblemError, NoDeviceMemory, CudaError.
GpuRun run_on_gpu(const GpuCall& call, const ForwardTensors& host);
GpuRun run_on_gpu(const GpuCall& call, const BackwardTensors& host);
/// See cuda::sample and cuda::sample_by_kernel.
SampledCall sample_on_gpu(const GpuCall& call, int repeat, std::uint64_t seed);
SampledKernels sample_kernels_on_gpu(const GpuCall& call, int repeat, std::uint64_t seed);
/// See calibrate and measure in compare/cuda.
CalibrationResult calibrate_gpu(const CalibrationOptions& options = {});
void measure_on_gpu(Row& row, const MachineModel& data_sheet, const MeasureOptions& options);
/// See count_on_gpu in hardware_counters.hpp. `call` must not throw. Without the library, `why_not`
/// says so.
std::vector<CountedRange> count_in_library(const std::function<void(RangeMarker&)>& call,
                                           std::string& why_not);

/// The result of a call into the library.
struct Outcome {
  enum class Kind : std::uint8_t { kGood, kProblem, kCuda, kNoMemory, kOther };
  Kind kind = Kind::kGood;
  // kProblem: field, value, what was expected. kCuda: call, error, message. Others: the message.
  std::vector<std::string> texts;
};

/// The library's side of the calls above. Each sets `result` or returns an error.
class GpuLibrary {
 public:
  virtual Outcome current_gpu(cuda::GpuInfo& result) = 0;
  virtual Outcome run(const GpuCall& call, const ForwardTensors& host, GpuRun& result) = 0;
  virtual Outcome run(const GpuCall& call, const BackwardTensors& host, GpuRun& result) = 0;
  virtual Outcome sample(const GpuCall& call, int repeat, std::uint64_t seed,
                         SampledCall& result) = 0;
  virtual Outcome sample_kernels(const GpuCall& call, int repeat, std::uint64_t seed,
                                 SampledKernels& result) = 0;
  virtual Outcome calibrate(const CalibrationOptions& options, CalibrationResult& result) = 0;
  virtual Outcome measure(Row& row, const MachineModel& data_sheet,
                          const MeasureOptions& options) = 0;
  virtual Outcome count(const std::function<void(RangeMarker&)>& call,
                        std::vector<CountedRange>& result, std::string& why_not) = 0;

 protected:
  ~GpuLibrary() = default;
};

/// Returns what both sides must agree on: the version and the sizes of exchanged structures. Each
/// library knows its own.
inline std::string gpu_interface() {
  std::string text = FLASHLAB_VERSION;
  for (const std::size_t size :
       {sizeof(Row), sizeof(Step), sizeof(MachineModel), sizeof(AttentionProblem),
        sizeof(BackwardTensors), sizeof(cuda::ExecutionOptions), sizeof(cuda::GpuInfo),
        sizeof(CalibrationResult), sizeof(GpuCall), sizeof(SampledKernels), sizeof(CountedRange),
        sizeof(std::string)}) {
    text += "." + std::to_string(size);
  }
  return text;
}

/// The library's entry function. Returns null if `interface` differs from its own.
inline constexpr const char* kGpuLibraryFunction = "flashlab_gpu_library";
using GpuLibraryFunction = GpuLibrary* (*)(const char* interface);

}  // namespace flashlab::compare
