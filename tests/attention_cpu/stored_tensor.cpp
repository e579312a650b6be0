#include "tests/attention_cpu/stored_tensor.hpp"

#include <algorithm>
#include <cstring>

#include "tests/attention_cpu/half_formats.hpp"

namespace flashlab::test {
namespace {

constexpr std::int64_t kMargin = 16;  // elements

template <class Element>
Element load_as(const void* base, std::int64_t offset) {
  return static_cast<const Element*>(base)[offset];
}

template <class Element>
void store_as(void* base, std::int64_t offset, Element value) {
  static_cast<Element*>(base)[offset] = value;
}

const HalfFormat& format_of(DataType dtype) {
  return dtype == DataType::kBFloat16 ? kBFloat16Format : kFloat16Format;
}

void poison_element(void* base, DataType dtype, std::int64_t offset) {
  constexpr std::uint64_t kDouble = 0x7ff8'dead'beef'0001u;
  constexpr std::uint32_t kFloat = 0x7fc0'beefu;
  constexpr std::uint16_t kBFloat16 = 0x7feb, kFloat16 = 0x7eeb;
  char* const bytes = static_cast<char*>(base) + offset * size_in_bytes(dtype);
  switch (dtype) {
    case DataType::kFloat64:
      std::memcpy(bytes, &kDouble, sizeof(kDouble));
      break;
    case DataType::kFloat32:
      std::memcpy(bytes, &kFloat, sizeof(kFloat));
      break;
    case DataType::kBFloat16:
      std::memcpy(bytes, &kBFloat16, sizeof(kBFloat16));
      break;
    case DataType::kFloat16:
      std::memcpy(bytes, &kFloat16, sizeof(kFloat16));
      break;
  }
}

std::shared_ptr<std::vector<std::uint64_t>> poisoned_memory(DataType dtype, std::int64_t elements) {
  const std::int64_t size = size_in_bytes(dtype), words = (elements * size + 7) / 8;
  const auto memory = std::make_shared<std::vector<std::uint64_t>>(words);
  for (std::int64_t k = 0; k < words * 8 / size; ++k) poison_element(memory->data(), dtype, k);
  return memory;
}

void* element_address(std::vector<std::uint64_t>& memory, DataType dtype, std::int64_t offset) {
  return reinterpret_cast<char*>(memory.data()) + offset * size_in_bytes(dtype);
}

}  // namespace

double load(const void* base, DataType dtype, std::int64_t offset) {
  if (dtype == DataType::kFloat64) return load_as<double>(base, offset);
  if (dtype == DataType::kFloat32) return load_as<float>(base, offset);
  return value_of(load_as<std::uint16_t>(base, offset), format_of(dtype));
}

void store(void* base, DataType dtype, std::int64_t offset, double value) {
  if (dtype == DataType::kFloat64) return store_as(base, offset, value);
  if (dtype == DataType::kFloat32) return store_as(base, offset, static_cast<float>(value));
  store_as(base, offset, nearest(value, format_of(dtype)));
}

double rounded(DataType dtype, double value) {
  double memory;
  store(&memory, dtype, 0, value);
  return load(&memory, dtype, 0);
}

std::vector<std::int64_t> offsets_of(const TensorView& view) {
  std::vector<std::int64_t> offsets = {0};
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    std::vector<std::int64_t> longer;
    longer.reserve(offsets.size() * static_cast<std::size_t>(view.shape[axis]));
    for (const std::int64_t offset : offsets) {
      for (std::int64_t k = 0; k < view.shape[axis]; ++k) {
        longer.push_back(offset + k * view.strides[axis]);
      }
    }
    offsets = std::move(longer);
  }
  return offsets;
}

void StoredTensor::assign(const std::vector<double>& values) const {
  std::size_t k = 0;
  for (const std::int64_t offset : offsets_of(view)) {
    store(view.data, view.dtype, offset, values[k++]);
  }
}

void StoredTensor::poison() const {
  for (const std::int64_t offset : offsets_of(view)) poison_element(view.data, view.dtype, offset);
}

StoredTensor make_tensor(DataType dtype, const Shape& shape, const Shape& strides) {
  StoredTensor tensor;
  tensor.view = {nullptr, dtype, shape, strides.empty() ? row_major(shape) : strides};
  std::int64_t lowest = 0, highest = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t reach =
        tensor.view.strides[axis] * std::max<std::int64_t>(shape[axis] - 1, 0);
    (reach < 0 ? lowest : highest) += reach;
  }
  tensor.memory = poisoned_memory(dtype, highest - lowest + 1 + 2 * kMargin);
  tensor.view.data = element_address(*tensor.memory, dtype, kMargin - lowest);
  return tensor;
}

std::vector<StoredTensor> make_interleaved(DataType dtype, const std::vector<Shape>& shapes) {
  const std::int64_t batch = shapes[0][0], rows = shapes[0][2], head_dim = shapes[0][3];
  std::int64_t heads = 0;
  for (const Shape& shape : shapes) heads += shape[1];
  const auto memory = poisoned_memory(dtype, batch * rows * heads * head_dim + 2 * kMargin);
  const Shape strides = {rows * heads * head_dim, head_dim, heads * head_dim, 1};
  std::vector<StoredTensor> tensors;
  std::int64_t first_head = 0;
  for (const Shape& shape : shapes) {
    void* const data = element_address(*memory, dtype, kMargin + first_head * head_dim);
    tensors.push_back({{data, dtype, shape, strides}, memory});
    first_head += shape[1];
  }
  return tensors;
}

MemoryGuard::MemoryGuard(std::initializer_list<StoredTensor> inputs,
                         std::initializer_list<StoredTensor> outputs)
    : inputs_(inputs), outputs_(outputs) {
  for (const StoredTensor& output : outputs_) output.poison();
  for (const StoredTensor& input : inputs_) inputs_before_.push_back(*input.memory);
  for (const StoredTensor& output : outputs_) outputs_before_.push_back(*output.memory);
}

bool MemoryGuard::nothing_else_written() const {
  for (const StoredTensor& output : outputs_) output.poison();
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (*inputs_[k].memory != inputs_before_[k]) return false;
  }
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (*outputs_[k].memory != outputs_before_[k]) return false;
  }
  return true;
}

}  // namespace flashlab::test
