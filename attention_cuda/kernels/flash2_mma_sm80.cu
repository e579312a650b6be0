// flash2 forward in bf16 and fp16: see flash2_mma_sm80.cuh.
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/kernels/flash2_mma_sm80.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kFlash2Stem16 = "flash2_mma_sm80";

template <class Element, int kHeadDim>
struct Flash2Tiles16
    : Flash2ConfigOf<TensorCore16<Element>, kHeadDim, kFlash2Shapes16[head_dim_index(kHeadDim)]> {};

void launch_flash2_mma_sm80(const ForwardCall& call) {
  with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
    if (call.problem.dtype == DataType::kBFloat16) {
      launch_flash2_mma<Flash2Tiles16<BFloat16, kHeadDim>>(call, kFlash2Stem16);
    } else {
      launch_flash2_mma<Flash2Tiles16<Float16, kHeadDim>>(call, kFlash2Stem16);
    }
  });
}

}  // namespace

extern const KernelRow flash2_mma_sm80;
const KernelRow flash2_mma_sm80 = {listed("flash2_mma_sm80"), launch_flash2_mma_sm80};

}  // namespace flashlab::cuda
