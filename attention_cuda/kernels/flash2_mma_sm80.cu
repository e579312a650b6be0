// flash2 forward in bf16 and fp16: see flash2_mma_sm80.cuh.
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/kernels/flash2_mma_sm80.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kStem = "flash2_mma_sm80";

/// The tiles by head_dim. Log: docs/attention_cuda_log.md.
template <class Element, int kHeadDim>
struct Tiles;
//                                                warps, row tiles, keys, Q in registers, blocks an
//                                                SM
template <class Element>
struct Tiles<Element, 32> : Flash2Config<TensorCore16<Element>, 32, 4, 2, 64, true, 2> {};
template <class Element>
struct Tiles<Element, 64> : Flash2Config<TensorCore16<Element>, 64, 4, 2, 64, true, 2> {};
template <class Element>
struct Tiles<Element, 128> : Flash2Config<TensorCore16<Element>, 128, 4, 2, 64, false, 2> {};
template <class Element>
struct Tiles<Element, 256> : Flash2Config<TensorCore16<Element>, 256, 4, 1, 32, false, 2> {};

void launch_flash2_mma_sm80(const ForwardCall& call) {
  with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
    if (call.problem.dtype == DataType::kBFloat16) {
      launch_flash2_mma<Tiles<BFloat16, kHeadDim>>(call, kStem);
    } else {
      launch_flash2_mma<Tiles<Float16, kHeadDim>>(call, kStem);
    }
  });
}

constexpr Arithmetic kArithmetic[] = {{DataType::kBFloat16, Products::kNative},
                                      {DataType::kFloat16, Products::kNative}};

}  // namespace

extern const KernelRow flash2_mma_sm80;
const KernelRow flash2_mma_sm80 = {kStem,
                                   "flash2",
                                   kArithmetic,
                                   80,
                                   "Dao 2023, FlashAttention-2, Algorithm 1",
                                   launch_flash2_mma_sm80};

}  // namespace flashlab::cuda
