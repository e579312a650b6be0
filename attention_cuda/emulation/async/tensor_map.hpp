// Tensor maps: how bulk tensor copies address global memory, and the copies themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "attention_cuda/emulation/async/shared_views.hpp"

namespace flashlab::cuda::emulation {

/// The place of a byte in the 128-byte swizzle: 16-byte chunks are exchanged within 128 bytes by
/// the number of their 128 bytes, modulo 8.
constexpr std::size_t swizzled_128(std::size_t at) { return at ^ (at >> 7 & 7) << 4; }

struct TensorMap {
  static constexpr int kMostRank = 5;

  unsigned char* base = nullptr;
  int rank = 0, element_bytes = 0;
  std::uint64_t sizes[kMostRank] = {};    // elements along each axis, the innermost first
  std::uint64_t strides[kMostRank] = {};  // bytes from one element to the next along each axis
  std::uint32_t box[kMostRank] = {};      // elements of a copy
  bool is_swizzled = false;               // by 128 bytes

  std::size_t box_bytes() const;
  /// Throws std::logic_error unless a copy may begin at this byte of shared memory.
  void require_aligned(std::size_t shared_at, const char* operation) const;
  /// Calls visit(byte in shared memory, address in global memory or null) for every element of the
  /// box at the coordinates. Null: the element is outside of the tensor.
  template <class Visit>
  void for_each(std::size_t shared_at, std::span<const std::int32_t> coordinates,
                const Visit& visit) const {
    std::uint32_t place[kMostRank] = {};
    const std::size_t count = box_bytes() / static_cast<std::size_t>(element_bytes);
    for (std::size_t i = 0; i < count; ++i) {
      unsigned char* from = base;
      for (int axis = 0; axis < rank; ++axis) {
        const std::int64_t index =
            std::int64_t{coordinates[static_cast<std::size_t>(axis)]} + place[axis];
        const bool is_inside = index >= 0 && index < static_cast<std::int64_t>(sizes[axis]);
        if (!is_inside) from = nullptr;
        if (from != nullptr) from += static_cast<std::uint64_t>(index) * strides[axis];
      }
      const std::size_t at = shared_at + i * static_cast<std::size_t>(element_bytes);
      visit(is_swizzled ? swizzled_128(at) : at, from);
      for (int axis = 0; axis < rank && ++place[axis] == box[axis]; ++axis) place[axis] = 0;
    }
  }
};

}  // namespace flashlab::cuda::emulation
