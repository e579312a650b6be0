// What generated code at level 2 needs of the emulation: tensor maps, and the asynchronous units.
#pragma once

#include <cstdint>

#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"
#include "attention_cuda/ptx/wgmma.cuh"

namespace flashlab::test {

/// The tensor map of a column of floats, for a kernel at level 2.
inline cuda::ptx::TensorMap map_of_column(void* data, std::uint64_t planes, std::uint64_t rows,
                                          std::uint32_t box_rows) {
  cuda::ptx::TensorMap map;
  map.base = static_cast<unsigned char*>(data);
  map.rank = 4;
  map.element_bytes = 4;
  const std::uint64_t sizes[] = {rows, 1, planes, 1};
  for (int axis = 0; axis < map.rank; ++axis) {
    map.sizes[axis] = sizes[axis];
    map.strides[axis] = axis == 0 ? 4 : map.strides[axis - 1] * sizes[axis - 1];
    map.box[axis] = axis == 0 ? box_rows : 1;
  }
  return map;
}

/// The tensor map of an array of one problem, for a kernel at level 2.
inline cuda::ptx::TensorMap map_of(void* data, bool is_bfloat16, std::uint64_t planes,
                                   std::uint64_t rows, std::uint64_t cols, int box_rows) {
  cuda::ptx::TensorLayout layout;
  layout.data = data;
  layout.is_bfloat16 = is_bfloat16;
  const std::uint64_t sizes[] = {cols, rows, planes, 1};
  for (int axis = 0; axis < cuda::ptx::TensorLayout::kRank; ++axis) {
    layout.sizes[axis] = sizes[axis];
    layout.strides[axis] = axis == 0 ? 2 : layout.strides[axis - 1] * sizes[axis - 1];
  }
  layout.box_rows = box_rows;
  return cuda::ptx::make_tensor_map(layout);
}

}  // namespace flashlab::test
