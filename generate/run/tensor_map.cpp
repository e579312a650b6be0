#include "generate/run/tensor_map.hpp"

namespace flashlab::generate {
namespace {

// Of cuda.h.
constexpr int kFp16 = 6, kBf16 = 9;  // CUtensorMapDataType
constexpr int kNotInterleaved = 0, kSwizzle128Bytes = 3, kPromotion256Bytes = 3, kFillZeros = 0;

constexpr unsigned kRank = 4, kBoxColumns = 64;

}  // namespace

TensorMap tensor_map(const CudaDriver& driver, const JobArray& array, std::int64_t problems,
                     DevicePointer address, std::int64_t box_rows) {
  if (driver.cuTensorMapEncodeTiled == nullptr) {
    throw GpuUnavailable("the driver has no cuTensorMapEncodeTiled: it is older than CUDA 12");
  }
  const auto columns = static_cast<std::uint64_t>(array.columns);
  const auto rows = static_cast<std::uint64_t>(array.rows);
  const std::uint64_t planes = static_cast<std::uint64_t>(array.elements) / rows / columns;
  const std::uint64_t sizes[kRank] = {columns, rows, planes, static_cast<std::uint64_t>(problems)};
  const std::uint64_t row_bytes =
      columns * static_cast<std::uint64_t>(toy::element_bytes(array.type));
  const std::uint64_t strides[kRank - 1] = {row_bytes, row_bytes * rows, row_bytes * rows * planes};
  const unsigned box[kRank] = {kBoxColumns, static_cast<unsigned>(box_rows), 1, 1};
  const unsigned steps[kRank] = {1, 1, 1, 1};
  TensorMap map{};
  driver.check(driver.cuTensorMapEncodeTiled(
                   &map, array.type == toy::ElementType::kBf16 ? kBf16 : kFp16, kRank,
                   reinterpret_cast<void*>(address), sizes, strides, box, steps, kNotInterleaved,
                   kSwizzle128Bytes, kPromotion256Bytes, kFillZeros),
               "cuTensorMapEncodeTiled for " + array.name);
  return map;
}

}  // namespace flashlab::generate
