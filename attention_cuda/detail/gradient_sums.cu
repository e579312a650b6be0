#include "attention_cuda/detail/gradient_sums.hpp"
#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ptx/convert.cuh"

namespace flashlab::cuda {
namespace {

constexpr int kSumThreads = 256;

template <class Element, int kCount>
struct alignas(kCount * sizeof(Element)) Neighbours {
  Element at[kCount];
};

/// Which rows of a sum a part is for. The blocks of a head are its own, so that a thread need not divide
/// numbers of 64 bits.
struct SumRows {
  std::int64_t part_row_elements;  // of one head: rows * head_dim
  std::int64_t sum_row_elements;
  std::int64_t first_element;
  unsigned blocks_per_head = 1;
};

/// A thread adds kAtOnce neighbouring elements.
template <class Element, int kAtOnce>
__global__ void __launch_bounds__(kSumThreads)
    add_gradient_kernel(const Element* part, float* sum, SumRows rows) {
  const unsigned head = blockIdx.x / rows.blocks_per_head,
                 block = blockIdx.x % rows.blocks_per_head;
  const std::int64_t within =
      (static_cast<std::int64_t>(block) * kSumThreads + threadIdx.x) * kAtOnce;
  if (within >= rows.part_row_elements) return;
  auto& target = *reinterpret_cast<Neighbours<float, kAtOnce>*>(sum + head * rows.sum_row_elements +
                                                                rows.first_element + within);
  const auto added = *reinterpret_cast<const Neighbours<Element, kAtOnce>*>(
      part + head * rows.part_row_elements + within);
  Neighbours<float, kAtOnce> values = target;
#pragma unroll
  for (int e = 0; e < kAtOnce; ++e) values.at[e] += ptx::to_float(added.at[e]);
  target = values;
}

/// The result is row-major, as the sum.
template <class Element, int kAtOnce>
__global__ void __launch_bounds__(kSumThreads)
    store_in_order_kernel(const float* sum, Element* result, std::int64_t count) {
  const std::int64_t k =
      (static_cast<std::int64_t>(blockIdx.x) * kSumThreads + threadIdx.x) * kAtOnce;
  if (k >= count) return;
  const auto values = *reinterpret_cast<const Neighbours<float, kAtOnce>*>(sum + k);
  Neighbours<Element, kAtOnce> stored;
#pragma unroll
  for (int e = 0; e < kAtOnce; ++e) stored.at[e] = ptx::from_float<Element>(values.at[e]);
  *reinterpret_cast<Neighbours<Element, kAtOnce>*>(result + k) = stored;
}

template <class Element>
__global__ void __launch_bounds__(kSumThreads)
    store_gradient_kernel(const float* sum, DeviceTensor<Element> result, int heads, int rows,
                          int head_dim, std::int64_t count) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * kSumThreads + threadIdx.x;
  if (k >= count) return;
  const std::int64_t row = k / head_dim, head = row / rows;
  result.row(static_cast<int>(head / heads), static_cast<int>(head % heads),
             row % rows)[k % head_dim * result.column_stride] = ptx::from_float<Element>(sum[k]);
}

std::int64_t count_of(const TensorView& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count *= size;
  return count;
}

/// Calls `work` with a null pointer of the element type.
template <class Work>
void with_type(DataType dtype, const Work& work) {
  switch (dtype) {
    case DataType::kBFloat16:
      return work(static_cast<BFloat16*>(nullptr));
    case DataType::kFloat16:
      return work(static_cast<Float16*>(nullptr));
    default:
      return work(static_cast<float*>(nullptr));
  }
}

std::int64_t num_blocks(std::int64_t count, int at_once) {
  const std::int64_t of_block = std::int64_t{kSumThreads} * at_once;
  return (count + of_block - 1) / of_block;
}

template <class Element, int kAtOnce>
void launch_add(const Call& call, const TensorView& part, const TensorView& sum, SumRows rows) {
  const std::int64_t blocks = num_blocks(rows.part_row_elements, kAtOnce);
  rows.blocks_per_head = static_cast<unsigned>(blocks);
  launch(call, "add_gradient", add_gradient_kernel<Element, kAtOnce>,
         {part.shape[0] * part.shape[1] * blocks, kSumThreads},
         static_cast<const Element*>(part.data), static_cast<float*>(sum.data), rows);
}

/// Whether a kernel can write kAtOnce neighbours of a result at the same time.
template <class Element, int kAtOnce>
bool are_neighbours(const TensorView& result) {
  const auto address = reinterpret_cast<std::uintptr_t>(result.data);
  return result.strides == row_major(result.shape) && count_of(result) % kAtOnce == 0 &&
         address % sizeof(Neighbours<Element, kAtOnce>) == 0;
}

}  // namespace

void add_gradient(const Call& call, const TensorView& part, const TensorView& sum,
                  std::int64_t first_row) {
  const std::int64_t head_dim = part.shape[3];
  const SumRows rows = {part.shape[2] * head_dim, sum.shape[2] * head_dim, first_row * head_dim};
  with_type(part.dtype, [&]<class Element>(Element*) {
    if (head_dim % 4 == 0) return launch_add<Element, 4>(call, part, sum, rows);
    launch_add<Element, 1>(call, part, sum, rows);
  });
}

void store_gradient(const Call& call, const TensorView& sum, const TensorView& result) {
  const std::int64_t count = count_of(sum);
  with_type(result.dtype, [&]<class Element>(Element*) {
    constexpr int kAtOnce = 4;
    if (are_neighbours<Element, kAtOnce>(result)) {
      return launch(call, "store_gradient", store_in_order_kernel<Element, kAtOnce>,
                    {num_blocks(count, kAtOnce), kSumThreads}, static_cast<const float*>(sum.data),
                    static_cast<Element*>(result.data), count);
    }
    launch(call, "store_gradient", store_gradient_kernel<Element>,
           {num_blocks(count, 1), kSumThreads}, static_cast<const float*>(sum.data),
           device_tensor<Element>(result), static_cast<int>(result.shape[1]),
           static_cast<int>(result.shape[2]), static_cast<int>(result.shape[3]), count);
  });
}

}  // namespace flashlab::cuda
