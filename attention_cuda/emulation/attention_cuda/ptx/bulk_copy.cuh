// Stands in for attention_cuda/ptx/bulk_copy.cuh. Bytes arrive at a random moment; until then the
// destination holds NaN.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>

#include "attention_cuda/emulation/async/async_block.hpp"
#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/ptx/tensor_layout.hpp"

namespace flashlab::cuda::ptx {

using TensorMap = emulation::TensorMap;

inline TensorMap make_tensor_map(const TensorLayout& layout) {
  if (const auto why = why_not_addressable(layout)) throw std::invalid_argument(*why);
  TensorMap map;
  map.base = static_cast<unsigned char*>(layout.data);
  map.rank = TensorLayout::kRank;
  map.element_bytes = TensorLayout::kElementBytes;
  for (int axis = 0; axis < TensorLayout::kRank; ++axis) {
    map.sizes[axis] = layout.sizes[axis];
    map.strides[axis] =
        axis == 0 ? static_cast<std::uint64_t>(map.element_bytes) : layout.strides[axis];
    map.box[axis] = 1;
  }
  map.box[0] = TensorLayout::kBoxColumns;
  map.box[1] = static_cast<std::uint32_t>(layout.box_rows);
  map.is_swizzled = true;
  return map;
}

inline void fence_async_proxy() {
  emulation::async_block().fence_proxy(emulation::thread_number());
}

inline void prefetch_tensor_map(const TensorMap&) {}

inline void load_box(SharedAddress to, const TensorMap& map, SharedAddress barrier, int column,
                     int row, int head, int batch) {
  const std::array<std::int32_t, TensorLayout::kRank> at = {column, row, head, batch};
  emulation::async_block().load_box(
      emulation::thread_number(),
      emulation::shared_offset(reinterpret_cast<const void*>(to), map.box_bytes(), "a bulk load"),
      map,
      emulation::shared_offset(reinterpret_cast<const void*>(barrier), 8, "a bulk load's mbarrier"),
      at);
}

inline void store_box(const TensorMap& map, SharedAddress from, int column, int row, int head,
                      int batch) {
  const std::array<std::int32_t, TensorLayout::kRank> at = {column, row, head, batch};
  emulation::async_block().store_box(emulation::thread_number(),
                                     emulation::shared_offset(reinterpret_cast<const void*>(from),
                                                              map.box_bytes(), "a bulk store"),
                                     map, at);
}

inline void add_floats(float* to, SharedAddress from, std::uint32_t bytes) {
  emulation::require_aligned(to, 16, "a bulk addition");
  emulation::async_block().add_floats(
      emulation::thread_number(),
      emulation::shared_offset(reinterpret_cast<const void*>(from), bytes, "a bulk addition"),
      {to, bytes / 4});
}

inline void commit_stores() { emulation::async_block().commit_stores(emulation::thread_number()); }

template <int kGroupsInFlight>
void wait_stores_read() {
  emulation::async_block().wait_stores(emulation::thread_number(), kGroupsInFlight, true);
}

template <int kGroupsInFlight>
void wait_stores() {
  emulation::async_block().wait_stores(emulation::thread_number(), kGroupsInFlight, false);
}

}  // namespace flashlab::cuda::ptx
