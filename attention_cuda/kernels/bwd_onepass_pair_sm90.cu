// bwd-onepass in bf16 and fp16 for head_dim to 256 on compute capability 9.0: see
// bwd_onepass_pair_sm90.cuh.
#include <optional>

#include "attention_cuda/kernels/backward_wgmma/launch.cuh"
#include "attention_cuda/kernels/bwd_onepass_pair_sm90.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    bwd_onepass_pair_sm90_kernel(const __grid_constant__ ptx::TensorMap Q_map,
                                 const __grid_constant__ ptx::TensorMap K_map,
                                 const __grid_constant__ ptx::TensorMap V_map,
                                 const __grid_constant__ ptx::TensorMap dO_map,
                                 const BwdWgmmaArguments arguments) {
  const BwdPairShared<Config> shared(ptx::shared_memory());
  initialise_barriers(shared);
  const int rank = ptx::cluster_rank();
  const BwdWgmmaWork<Config> work(arguments, static_cast<int>(blockIdx.x) / Config::kClusterBlocks);
  if (threadIdx.x < Config::kWarpgroup) {
    ptx::release_registers<Config::kLoadingRegisters>();
    if (threadIdx.x < 32) {
      if (ptx::elect_one()) {
        load_tiles(shared, work, rank, arguments.sizes, Q_map, K_map, V_map, dO_map);
      }
      __syncwarp();
    } else if (threadIdx.x < 64) {
#pragma unroll 1
      for (BwdWgmmaTile tile = work.first(arguments.sizes); work.is_there(tile);
           tile = work.next(tile)) {
        load_statistics(shared, work, tile, arguments);
      }
    } else if (Config::kTakesTurns && threadIdx.x % 32 == 0) {
      keep_turns(shared, work, rank, static_cast<int>(threadIdx.x) / 32 - 2, arguments);
    }
  } else {
    ptx::take_registers<Config::kComputingRegisters>();
    BwdPairComputing<Config>(shared, work, arguments, rank).run();
  }
  // The other block still signals this one.
  ptx::cluster_arrive();
  ptx::cluster_wait();
}

constexpr std::string_view kBwdPairName = "bwd_onepass_pair_sm90";

std::size_t bwd_onepass_pair_workspace_bytes(const AttentionProblem& problem,
                                             const ExecutionOptions& options) {
  return bwd_wgmma_arrays(problem, options, nullptr, bwd_pair_shape(problem.head_dim).head_dim,
                          BwdPairShape::kTurnsOfTile)
      .bytes;
}

template <class Element, int kIndex, bool kTakesTurns>
void launch_bwd_pair(const BackwardCall& call) {
  using Config = BwdPairConfig<Element, kBwdPairShapes[kIndex], kTakesTurns>;
  launch_bwd_wgmma<Config>(call, kBwdPairName, bwd_onepass_pair_sm90_kernel<Config>);
}

template <class Element, int kIndex>
void launch_bwd_pair(const BackwardCall& call) {
  call.options.deterministic ? launch_bwd_pair<Element, kIndex, true>(call)
                             : launch_bwd_pair<Element, kIndex, false>(call);
}

template <class Element>
void launch_bwd_pair(const BackwardCall& call) {
  index_of_shape(kBwdPairShapes, call.problem.head_dim) == 0 ? launch_bwd_pair<Element, 0>(call)
                                                             : launch_bwd_pair<Element, 1>(call);
}

void launch_bwd_onepass_pair_sm90(const BackwardCall& call) {
  call.problem.dtype == DataType::kBFloat16 ? launch_bwd_pair<BFloat16>(call)
                                            : launch_bwd_pair<Float16>(call);
}

std::optional<ProblemError> why_not_bwd_onepass_pair(const BackwardTensors& tensors) {
  return why_not_bwd_wgmma(kBwdPairName, tensors);
}

}  // namespace

extern const KernelRow bwd_onepass_pair_sm90;
const KernelRow bwd_onepass_pair_sm90 = {listed(kBwdPairName),
                                         nullptr,
                                         launch_bwd_onepass_pair_sm90,
                                         bwd_onepass_pair_workspace_bytes,
                                         nullptr,
                                         why_not_bwd_onepass_pair};

}  // namespace flashlab::cuda
