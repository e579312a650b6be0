// One attention by several GPUs: a thread for each, or a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "attention/ranks/rank_process.hpp"
#include "attention/ranks/shards.hpp"
#include "attention_cuda/attention.hpp"
#include "attention_cuda/samples.hpp"

namespace flashlab::cuda {

struct GpusRun {
  Samples samples;                  // of the slowest GPU, without copies between host and GPUs
  std::size_t workspace_bytes = 0;  // of the GPU that needs most
  std::string kernels;              // "ring of flash2"
};

/// How far a measurement is, and the memory of the GPU that needs most.
struct GpusProgress {
  std::string kernels;
  std::size_t tensor_bytes = 0, workspace_bytes = 0;
  int num_done = 0, num_runs = 0;  // with the warm-up; 0: nothing runs
};
/// Must not throw.
using OnGpusProgress = std::function<void(const GpusProgress&)>;

/// Gives each GPU its shards of the host's tensors, runs a variant once, and collects the results.
/// Tensors are row-major. shards.num_ranks: the first GPUs. If this is one of several processes, each
/// gives the same inputs, and rank 0 gets the results. Throws ProblemError, also if there are fewer
/// GPUs; NoDeviceMemory, RankFailure, CudaError.
GpusRun run_on_gpus(std::string_view variant, const ShardedProblem& problem,
                    const ExecutionOptions& execution, const ForwardTensors& host,
                    const RankOptions& ranks = {});
GpusRun run_on_gpus(std::string_view variant, const ShardedProblem& problem,
                    const ExecutionOptions& execution, const BackwardTensors& host,
                    const RankOptions& ranks = {});

/// Measures a variant on inputs that each GPU draws, `repeat` times after a warm-up; 0: nothing runs, and it
/// is only checked that the memory suffices. Throws the same; std::runtime_error: NaN in a result.
/// `on_progress` is called before memory is taken and after each run, by rank 0.
GpusRun sample_on_gpus(std::string_view variant, const ShardedProblem& problem,
                       const ExecutionOptions& execution, int repeat, std::uint64_t seed,
                       const RankOptions& ranks = {}, const OnGpusProgress& on_progress = {});

}  // namespace flashlab::cuda
