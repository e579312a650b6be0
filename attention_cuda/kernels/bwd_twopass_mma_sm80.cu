// bwd-twopass in bf16 and fp16: see bwd_twopass_mma_sm80.cuh.
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/kernels/bwd_twopass_mma_sm80.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kStem = "bwd_twopass_mma_sm80";

/// The tiles by head_dim, within the 99 KiB of shared memory of compute capability 8.6.
/// Log: docs/attention_cuda_log.md.
template <int kHeadDim>
constexpr QueryTileShape kQueryShape = {};
//                                  warps, queries a warp, keys, chunk, stages, blocks an SM
template <>
constexpr QueryTileShape kQueryShape<32> = {4, 32, 64, 32, 2, 2};
template <>
constexpr QueryTileShape kQueryShape<64> = {4, 32, 64, 64, 2, 2};
template <>
constexpr QueryTileShape kQueryShape<128> = {4, 32, 32, 32, 2, 2};
template <>
constexpr QueryTileShape kQueryShape<256> = {4, 16, 16, 16, 2, 2};

template <int kHeadDim>
constexpr KeyTileShape kKeyShape = {};
//                              queries, keys, warps, keys a warp, chunk, stages, -, blocks an SM
template <>
constexpr KeyTileShape kKeyShape<32> = {64, 128, 4, 32, 32, 2, 1, 2};
template <>
constexpr KeyTileShape kKeyShape<64> = {64, 128, 4, 32, 32, 2, 1, 2};
template <>
constexpr KeyTileShape kKeyShape<128> = {64, 64, 4, 16, 32, 2, 1, 2};
template <>
constexpr KeyTileShape kKeyShape<256> = {16, 64, 8, 16, 16, 2, 1, 1};

void launch_bwd_twopass_mma_sm80(const BackwardCall& call) {
  with_tensor_core_16(call, [&]<class TensorCore>() {
    with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
      launch_bwd_twopass_mma<QueryTileConfig<TensorCore, kHeadDim, kQueryShape<kHeadDim>>,
                             KeyTileConfig<TensorCore, kHeadDim, kKeyShape<kHeadDim>, false>>(call);
    });
  });
}

constexpr Arithmetic kArithmetic[] = {{DataType::kBFloat16, Products::kNative},
                                      {DataType::kFloat16, Products::kNative}};

}  // namespace

extern const KernelRow bwd_twopass_mma_sm80;
const KernelRow bwd_twopass_mma_sm80 = {kStem,
                                        "bwd-twopass",
                                        kArithmetic,
                                        80,
                                        "Dao 2023, FlashAttention-2, Algorithm 2",
                                        nullptr,
                                        launch_bwd_twopass_mma_sm80,
                                        bwd_twopass_mma_workspace_bytes};

}  // namespace flashlab::cuda
