// bwd-twopass of fp32 tensors with tf32 products, one or three for each: see
// bwd_twopass_mma_sm80.cuh.
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/kernels/bwd_twopass_mma_sm80.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kStem = "bwd_twopass_mma_tf32_sm80";

/// The tiles by head_dim, within the 99 KiB of shared memory of compute capability 8.6.
/// kSplits: three products for one, whose operands take twice the registers.
/// Log: docs/attention_cuda_log.md.
template <int kHeadDim, bool kSplits>
constexpr QueryTileShape kQueryShape = {};
//                                  warps, queries a warp, keys, chunk, stages, blocks an SM
template <bool kSplits>
constexpr QueryTileShape kQueryShape<32, kSplits> = {4, 32, 32, 32, 2, 2};
template <bool kSplits>
constexpr QueryTileShape kQueryShape<64, kSplits> = {4, 32, 32, kSplits ? 16 : 32, 2, 2};
template <bool kSplits>
constexpr QueryTileShape kQueryShape<128, kSplits> = {4, 16, 16, 16, 2, 2};
template <bool kSplits>
constexpr QueryTileShape kQueryShape<256, kSplits> = {2, 16, 16, 16, 1, 2};

template <int kHeadDim, bool kSplits>
constexpr KeyTileShape kKeyShape = {};
//                              queries, keys, warps, keys a warp, chunk, stages, -, blocks an SM
template <bool kSplits>
constexpr KeyTileShape kKeyShape<32, kSplits> = {32, 128, 4, 32, 32, 2, 1, 2};
template <bool kSplits>
constexpr KeyTileShape kKeyShape<64, kSplits> =
    kSplits ? KeyTileShape{32, 64, 4, 16, 16, 2, 1, 2} : KeyTileShape{16, 128, 4, 32, 16, 2, 1, 2};
template <bool kSplits>
constexpr KeyTileShape kKeyShape<128, kSplits> =
    kSplits ? KeyTileShape{16, 64, 8, 16, 16, 2, 1, 1} : KeyTileShape{16, 64, 4, 16, 16, 2, 1, 2};
template <bool kSplits>
constexpr KeyTileShape kKeyShape<256, kSplits> = {16, 32, 4, 16, 16, 1, 1, 1};

void launch_bwd_twopass_mma_tf32_sm80(const BackwardCall& call) {
  with_tensor_core_32(call, [&]<class TensorCore>() {
    with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
      launch_bwd_twopass_mma<
          QueryTileConfig<TensorCore, kHeadDim, kQueryShape<kHeadDim, TensorCore::kSplitsValues>>,
          KeyTileConfig<TensorCore, kHeadDim, kKeyShape<kHeadDim, TensorCore::kSplitsValues>,
                        false>>(call);
    });
  });
}

constexpr Arithmetic kArithmetic[] = {{DataType::kFloat32, Products::kTensorFloat32},
                                      {DataType::kFloat32, Products::kTensorFloat32x3}};

}  // namespace

extern const KernelRow bwd_twopass_mma_tf32_sm80;
const KernelRow bwd_twopass_mma_tf32_sm80 = {kStem,
                                             "bwd-twopass",
                                             kArithmetic,
                                             80,
                                             "Dao 2023, FlashAttention-2, Algorithm 2",
                                             nullptr,
                                             launch_bwd_twopass_mma_tf32_sm80,
                                             bwd_twopass_mma_workspace_bytes};

}  // namespace flashlab::cuda
