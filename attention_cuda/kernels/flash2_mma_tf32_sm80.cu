// flash2 forward of fp32 tensors on tensor cores, their operands rounded to tf32 or split in two:
// see flash2_mma_sm80.cuh.
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/kernels/flash2_mma_sm80.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kStem = "flash2_mma_tf32_sm80";

/// The tiles by head_dim: rows are twice as long as 16-bit ones, and 99 KiB have to do.
template <class Unit, int kHeadDim>
struct Tiles;
//                                     warps, row tiles, keys, Q in registers, blocks an SM
template <class Unit>
struct Tiles<Unit, 32> : Flash2Config<Unit, 32, 4, 2, 32, false, 2> {};
template <class Unit>
struct Tiles<Unit, 64> : Flash2Config<Unit, 64, 4, 2, 32, false, 2> {};
template <class Unit>
struct Tiles<Unit, 128> : Flash2Config<Unit, 128, 4, 1, 32, false, 2> {};
template <class Unit>
struct Tiles<Unit, 256> : Flash2Config<Unit, 256, 2, 1, 16, false, 2> {};

void launch_flash2_mma_tf32_sm80(const ForwardCall& call) {
  with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
    if (call.options.products == Products::kTensorFloat32) {
      launch_flash2_mma<Tiles<TensorCoreTf32, kHeadDim>>(call, kStem);
    } else {
      launch_flash2_mma<Tiles<TensorCoreTf32x3, kHeadDim>>(call, kStem);
    }
  });
}

constexpr Arithmetic kArithmetic[] = {{DataType::kFloat32, Products::kTensorFloat32},
                                      {DataType::kFloat32, Products::kTensorFloat32x3}};

}  // namespace

extern const KernelRow flash2_mma_tf32_sm80;
const KernelRow flash2_mma_tf32_sm80 = {kStem,
                                        "flash2",
                                        kArithmetic,
                                        80,
                                        "Dao 2023, FlashAttention-2, Algorithm 1",
                                        launch_flash2_mma_tf32_sm80};

}  // namespace flashlab::cuda
