#include "generate/run/tensor_map.hpp"

namespace flashlab::generate {
namespace {

// Of cuda.h.
constexpr int kMapOfFp16 = 6, kMapOfFloat = 7, kMapOfBf16 = 9;  // CUtensorMapDataType
constexpr int kNotInterleaved = 0, kNoSwizzle = 0, kSwizzle128Bytes = 3, kPromotion256Bytes = 3,
              kFillZeros = 0;

constexpr unsigned kAxes = 4, kBoxColumns = 64;

int map_type(toy::ElementType type) {
  if (type == toy::ElementType::kFloat) return kMapOfFloat;
  return type == toy::ElementType::kBf16 ? kMapOfBf16 : kMapOfFp16;
}

}  // namespace

TensorMap tensor_map(const CudaDriver& driver, const JobArray& array, std::int64_t problems,
                     DevicePointer address, const BoxedArray& boxed) {
  if (driver.cuTensorMapEncodeTiled == nullptr) {
    throw GpuUnavailable("the driver has no cuTensorMapEncodeTiled: it is older than CUDA 12");
  }
  const auto columns = static_cast<std::uint64_t>(boxed.is_column ? array.rows : array.columns);
  const auto rows = static_cast<std::uint64_t>(boxed.is_column ? 1 : array.rows);
  const std::uint64_t planes = static_cast<std::uint64_t>(array.elements) / rows / columns;
  const std::uint64_t sizes[kAxes] = {columns, rows, planes, static_cast<std::uint64_t>(problems)};
  const std::uint64_t row_bytes =
      columns * static_cast<std::uint64_t>(toy::element_bytes(array.type));
  const std::uint64_t strides[kAxes - 1] = {row_bytes, row_bytes * rows, row_bytes * rows * planes};
  const auto box_rows = static_cast<unsigned>(boxed.rows);
  const unsigned box[kAxes] = {boxed.is_column ? box_rows : kBoxColumns,
                               boxed.is_column ? 1 : box_rows, 1, 1};
  const unsigned steps[kAxes] = {1, 1, 1, 1};
  TensorMap map{};
  driver.check(driver.cuTensorMapEncodeTiled(
                   &map, map_type(array.type), kAxes, reinterpret_cast<void*>(address), sizes,
                   strides, box, steps, kNotInterleaved,
                   boxed.is_column ? kNoSwizzle : kSwizzle128Bytes, kPromotion256Bytes, kFillZeros),
               "cuTensorMapEncodeTiled for " + array.name);
  return map;
}

}  // namespace flashlab::generate
