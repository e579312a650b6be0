// flash2 forward for fp32 tensors on tensor cores, with operands rounded to tf32 or split in
// two: see flash2_mma_sm80.cuh.
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/kernels/flash2_mma_sm80.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kFlash2StemTf32 = "flash2_mma_tf32_sm80";

template <class Unit, int kHeadDim>
struct Flash2TilesTf32
    : Flash2ConfigOf<Unit, kHeadDim, kFlash2ShapesTf32[head_dim_index(kHeadDim)]> {};

void launch_flash2_mma_tf32_sm80(const ForwardCall& call) {
  with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
    if (call.options.products == Products::kTensorFloat32) {
      launch_flash2_mma<Flash2TilesTf32<TensorCoreTf32, kHeadDim>>(call, kFlash2StemTf32);
    } else {
      launch_flash2_mma<Flash2TilesTf32<TensorCoreTf32x3, kHeadDim>>(call, kFlash2StemTf32);
    }
  });
}

}  // namespace

extern const KernelRow flash2_mma_tf32_sm80;
const KernelRow flash2_mma_tf32_sm80 = {listed("flash2_mma_tf32_sm80"),
                                        launch_flash2_mma_tf32_sm80};

}  // namespace flashlab::cuda
