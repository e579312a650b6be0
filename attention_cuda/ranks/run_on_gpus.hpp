// One attention by several GPUs of this computer, in one process: a thread for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "attention/ranks/shards.hpp"
#include "attention_cuda/attention.hpp"
#include "attention_cuda/samples.hpp"

namespace flashlab::cuda {

struct GpusRun {
  Samples samples;                  // of the slowest GPU, without copies between host and GPUs
  std::size_t workspace_bytes = 0;  // of the GPU that needs most
  std::string kernels;              // "ring of flash2"
};

/// Gives each GPU its shards of the host's tensors, runs a variant once, and collects the results.
/// Tensors are row-major. shards.num_ranks: the first GPUs. Throws ProblemError, also if there are
/// fewer; NoDeviceMemory, RankFailure, CudaError.
GpusRun run_on_gpus(std::string_view variant, const ShardedProblem& problem,
                    const ExecutionOptions& execution, const ForwardTensors& host);
GpusRun run_on_gpus(std::string_view variant, const ShardedProblem& problem,
                    const ExecutionOptions& execution, const BackwardTensors& host);

/// Measures a variant on inputs that each GPU draws, `repeat` times after a warm-up. Throws the same;
/// std::runtime_error: NaN in a result.
GpusRun sample_on_gpus(std::string_view variant, const ShardedProblem& problem,
                       const ExecutionOptions& execution, int repeat, std::uint64_t seed);

}  // namespace flashlab::cuda
