// bwd-onepass of fp32 tensors with tf32 products, one or three for each: see
// bwd_onepass_mma_sm80.cuh.
#include "attention_cuda/kernels/bwd_onepass_mma_sm80.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kStem = "bwd_onepass_mma_tf32_sm80";

/// The tiles by head_dim: rows are twice as long as 16-bit ones, and 99 KiB have to do.
/// Log: docs/attention_cuda_log.md.
template <int kHeadDim>
constexpr KeyTileShape kShape = {};
//                           queries, keys, warps, keys a warp, chunk, stages, warps_q, blocks an SM
template <>
constexpr KeyTileShape kShape<32> = {32, 128, 4, 32, 16, 2, 2, 2};
template <>
constexpr KeyTileShape kShape<64> = {32, 64, 4, 16, 32, 2, 2, 2};
template <>
constexpr KeyTileShape kShape<128> = {16, 64, 4, 16, 16, 1, 1, 2};
template <>
constexpr KeyTileShape kShape<256> = {16, 32, 4, 16, 16, 1, 1, 1};

void launch_bwd_onepass_mma_tf32_sm80(const BackwardCall& call) {
  with_tensor_core_32(call, [&]<class TensorCore>() {
    with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
      using Config = KeyTileConfig<TensorCore, kHeadDim, kShape<kHeadDim>, true>;
      static_assert(Config::kSharedBytes <= 99 << 10);
      launch_bwd_onepass_mma<Config>(call, kStem);
    });
  });
}

constexpr Arithmetic kArithmetic[] = {{DataType::kFloat32, Products::kTensorFloat32},
                                      {DataType::kFloat32, Products::kTensorFloat32x3}};

}  // namespace

extern const KernelRow bwd_onepass_mma_tf32_sm80;
const KernelRow bwd_onepass_mma_tf32_sm80 = {kStem,
                                             "bwd-onepass",
                                             kArithmetic,
                                             80,
                                             "Dao 2023, FlashAttention-2, Algorithm 2",
                                             nullptr,
                                             launch_bwd_onepass_mma_tf32_sm80,
                                             bwd_onepass_mma_workspace_bytes};

}  // namespace flashlab::cuda
