// A tensor of four axes as bulk copies see it, and the limits of the hardware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flashlab::cuda::ptx {

/// Axes: columns, rows, heads, batch. 16-bit elements; columns are adjacent.
struct TensorLayout {
  static constexpr int kRank = 4, kElementBytes = 2;
  /// A box is a panel of this many columns: 128 bytes per row, in the 128-byte swizzle.
  static constexpr int kBoxColumns = 64;
  static constexpr std::uint64_t kMostSize = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kMostStride = std::uint64_t{1} << 40;
  static constexpr int kMostBoxRows = 256;

  void* data = nullptr;
  bool is_bfloat16 = true;                         // else fp16
  std::uint64_t sizes[kRank] = {8, 1, 1, 1};       // elements
  std::uint64_t strides[kRank] = {2, 16, 16, 16};  // bytes
  int box_rows = 64;
};

/// Why bulk copies cannot address the tensor; nothing if they can.
inline std::optional<std::string> why_not_addressable(const TensorLayout& layout) {
  if (reinterpret_cast<std::uintptr_t>(layout.data) % 16 != 0) {
    return "its address is not a multiple of 16 bytes";
  }
  // A bulk store writes whole pieces of 16 bytes, beyond the last column too.
  if (layout.sizes[0] * TensorLayout::kElementBytes % 16 != 0) {
    return "its rows have " + std::to_string(layout.sizes[0] * TensorLayout::kElementBytes) +
           " bytes; bulk copies take multiples of 16";
  }
  for (int axis = 0; axis < TensorLayout::kRank; ++axis) {
    const std::uint64_t size = layout.sizes[axis], stride = layout.strides[axis];
    if (size < 1 || size > TensorLayout::kMostSize) {
      return "axis " + std::to_string(axis) + " has " + std::to_string(size) +
             " elements; bulk copies take 1 to 2^32";
    }
    if (axis > 0 && (stride % 16 != 0 || stride >= TensorLayout::kMostStride)) {
      return "axis " + std::to_string(axis) + " has a stride of " + std::to_string(stride) +
             " bytes; bulk copies take multiples of 16 below 2^40";
    }
  }
  if (layout.box_rows < 1 || layout.box_rows > TensorLayout::kMostBoxRows) {
    return "a box has " + std::to_string(layout.box_rows) + " rows; bulk copies take 1 to 256";
  }
  return std::nullopt;
}

}  // namespace flashlab::cuda::ptx
