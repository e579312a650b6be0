// The door to the GPU kernels: everything that needs CUDA is in one shared library beside the
// command. The first call here opens it, so that a command without a GPU starts fast.
//
// Found    $FLASHLAB_CUDA_LIBRARY, or libflashlab_cuda.so in the command's folder, in
//          ../lib/flashlab, in ../lib, in the installation's library folder, or in the build folder
// Errors   GpuLibraryMissing: no such library, or a library of another build. Otherwise each call
//          throws the exceptions of its counterpart in attention_cuda/.
// Runtime  each side may have its own C++ runtime: see crossing.hpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/ranks/rank_process.hpp"
#include "attention/ranks/shards.hpp"
#include "attention_cuda/attention.hpp"
#include "attention_cuda/gpu.hpp"
#include "attention_cuda/ranks/run_on_gpus.hpp"
#include "attention_cuda/samples.hpp"

namespace flashlab::cuda::door {

/// what(): one line that says how to install the library.
class GpuLibraryMissing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One variant on one problem, on the current GPU or on several. The options contain no device
/// memory: the library allocates it.
struct GpuCall {
  std::string variant;
  AttentionProblem problem;
  ExecutionOptions execution;
  /// A variant over several ranks: how many GPUs, and which tokens each has.
  std::optional<Shards> shards = {};
  RankOptions ranks = {};           // if ranks.process, all calls are on its GPU
  OnGpusProgress on_progress = {};  // of sample() over several ranks
};

/// The result of a call on tensors of the host.
struct GpuRun {
  double ms = 0;  // of the call alone, without copies
  std::size_t workspace_bytes = 0;
  std::string kernel;
};

struct SampledCall {
  Samples samples;
  std::size_t workspace_bytes = 0;
  std::string kernel;
};

struct SampledKernels {
  std::vector<KernelTotal> launches;  // medians
  std::string kernel;
};

/// Returns an empty text if the library can be opened, otherwise what() of GpuLibraryMissing.
std::string why_no_library();

/// Returns the current device. Throws CudaError: no driver, no GPU.
GpuInfo current_gpu();
/// Copies the inputs to the GPU, runs the call once, and copies the outputs back. Throws
/// ProblemError, NoDeviceMemory, CudaError.
GpuRun run(const GpuCall& call, const ForwardTensors& host);
GpuRun run(const GpuCall& call, const BackwardTensors& host);
/// See cuda::sample and cuda::sample_by_kernel.
SampledCall sample(const GpuCall& call, int repeat, std::uint64_t seed);
SampledKernels sample_kernels(const GpuCall& call, int repeat, std::uint64_t seed);

}  // namespace flashlab::cuda::door
