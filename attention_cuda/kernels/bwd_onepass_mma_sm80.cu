// bwd-onepass in bf16 and fp16: see bwd_onepass_mma_sm80.cuh.
#include "attention_cuda/kernels/bwd_onepass_mma_sm80.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kStem = "bwd_onepass_mma_sm80";

/// The tiles by head_dim, within the 99 KiB of shared memory of compute capability 8.6.
/// Log: docs/attention_cuda_log.md.
template <int kHeadDim>
constexpr KeyTileShape kShape = {};
//                           queries, keys, warps, keys a warp, chunk, stages, warps_q, blocks an SM
template <>
constexpr KeyTileShape kShape<32> = {64, 128, 4, 32, 32, 2, 2, 2};
template <>
constexpr KeyTileShape kShape<64> = {64, 128, 4, 32, 32, 2, 2, 2};
template <>
constexpr KeyTileShape kShape<128> = {32, 64, 4, 16, 32, 2, 1, 2};
template <>
constexpr KeyTileShape kShape<256> = {32, 32, 4, 16, 32, 1, 1, 2};

/// Where there is more shared memory; block_q 0: nothing better is known.
template <int kHeadDim>
constexpr KeyTileShape kLargeShape = {};
template <>
constexpr KeyTileShape kLargeShape<128> = {64, 128, 8, 32, 64, 2, 2, 1};
template <>
constexpr KeyTileShape kLargeShape<256> = {32, 64, 8, 16, 32, 2, 1, 1};

void launch_bwd_onepass_mma_sm80(const BackwardCall& call) {
  with_tensor_core_16(call, [&]<class TensorCore>() {
    with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
      if constexpr (kLargeShape<kHeadDim>.block_q > 0) {
        using Large = KeyTileConfig<TensorCore, kHeadDim, kLargeShape<kHeadDim>, true>;
        if (max_shared_bytes() >= Large::kSharedBytes) {
          return launch_bwd_onepass_mma<Large>(call, kStem);
        }
      }
      using Config = KeyTileConfig<TensorCore, kHeadDim, kShape<kHeadDim>, true>;
      static_assert(Config::kSharedBytes <= 99 << 10);
      launch_bwd_onepass_mma<Config>(call, kStem);
    });
  });
}

constexpr Arithmetic kArithmetic[] = {{DataType::kBFloat16, Products::kNative},
                                      {DataType::kFloat16, Products::kNative}};

}  // namespace

extern const KernelRow bwd_onepass_mma_sm80;
const KernelRow bwd_onepass_mma_sm80 = {kStem,
                                        "bwd-onepass",
                                        kArithmetic,
                                        80,
                                        "Dao 2023, FlashAttention-2, Algorithm 2",
                                        nullptr,
                                        launch_bwd_onepass_mma_sm80,
                                        bwd_onepass_mma_workspace_bytes};

}  // namespace flashlab::cuda
