#include "attention/tensor.hpp"

namespace flashlab {

std::string_view to_string(DataType dtype) {
  constexpr std::string_view kNames[] = {"float", "double", "bf16", "fp16"};
  return kNames[static_cast<int>(dtype)];
}

std::int64_t size_in_bytes(DataType dtype) {
  constexpr std::int64_t kSizes[] = {4, 8, 2, 2};
  return kSizes[static_cast<int>(dtype)];
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    // Shapes are checked later. A wrong one must not overflow here.
    if (__builtin_mul_overflow(strides[axis], shape[axis], &strides[axis - 1])) {
      strides[axis - 1] = 0;
    }
  }
  return strides;
}

}  // namespace flashlab
