// A view of a tensor that the caller owns: memory, element type, shape and strides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

/// The stored type of an element. Kernels compute 16-bit elements in float.
enum class DataType : std::uint8_t { kFloat32, kFloat64, kBFloat16, kFloat16 };

/// Returns "float", "double", "bf16", "fp16": the words of the toy machine and of --dtype.
std::string_view to_string(DataType dtype);
std::int64_t size_in_bytes(DataType dtype);

/// The 16 bits of a stored element; `attention_cpu/half.hpp` converts them.
struct BFloat16 {
  std::uint16_t bits;
};
struct Float16 {
  std::uint16_t bits;
};

template <class Element>
struct DataTypeOf;
template <>
struct DataTypeOf<float> {
  static constexpr DataType kValue = DataType::kFloat32;
};
template <>
struct DataTypeOf<double> {
  static constexpr DataType kValue = DataType::kFloat64;
};
template <>
struct DataTypeOf<BFloat16> {
  static constexpr DataType kValue = DataType::kBFloat16;
};
template <>
struct DataTypeOf<Float16> {
  static constexpr DataType kValue = DataType::kFloat16;
};

/// Element (i, j, …) is at data + i strides[0] + j strides[1] + …; strides count elements. An
/// input's stride may be 0 (one head used as several) or negative. Its memory is never written.
struct TensorView {
  void* data = nullptr;
  DataType dtype = DataType::kFloat32;
  std::vector<std::int64_t> shape, strides;

  bool empty() const { return data == nullptr && shape.empty(); }
};

/// Returns the row-major strides of a shape; the last stride is 1.
std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape);

template <class Element>
TensorView view(Element* data, std::vector<std::int64_t> shape,
                std::vector<std::int64_t> strides = {}) {
  if (strides.empty()) strides = row_major(shape);
  return {data, DataTypeOf<Element>::kValue, std::move(shape), std::move(strides)};
}
template <class Element>
TensorView view(const Element* data, std::vector<std::int64_t> shape,
                std::vector<std::int64_t> strides = {}) {
  return view(const_cast<Element*>(data), std::move(shape), std::move(strides));
}

}  // namespace flashlab
