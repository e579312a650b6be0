// Tensors of any type and strides in memory of their own: poisoned with NaN, and able to tell
// whether anything but their elements was written.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "attention/tensor.hpp"

namespace flashlab::test {

using Shape = std::vector<std::int64_t>;

/// Element `offset` of memory that holds `dtype`. A double holds every type exactly.
double load(const void* base, DataType dtype, std::int64_t offset);
/// Rounded to nearest even.
void store(void* base, DataType dtype, std::int64_t offset, double value);
/// The value as `dtype` holds it.
double rounded(DataType dtype, double value);

/// Where each element lies, row-major order of the indices.
std::vector<std::int64_t> offsets_of(const TensorView& view);

struct StoredTensor {
  TensorView view;
  std::shared_ptr<std::vector<std::uint64_t>> memory;

  /// The elements in row-major order, whatever the strides.
  template <class Real = double>
  std::vector<Real> values() const {
    std::vector<Real> result;
    for (const std::int64_t offset : offsets_of(view)) {
      result.push_back(static_cast<Real>(load(view.data, view.dtype, offset)));
    }
    return result;
  }
  void assign(const std::vector<double>& values) const;
  /// NaN with a payload of its own in every element.
  void poison() const;
};

/// Poisoned memory for one tensor, with a margin around it. Strides may be 0 or negative.
StoredTensor make_tensor(DataType dtype, const Shape& shape, const Shape& strides = {});

/// Tensors side by side in the rows of one array [batch, rows, all heads, head_dim].
std::vector<StoredTensor> make_interleaved(DataType dtype, const std::vector<Shape>& shapes);

/// Remembers the memory of tensors before a call.
class MemoryGuard {
 public:
  MemoryGuard(std::initializer_list<StoredTensor> inputs,
              std::initializer_list<StoredTensor> outputs);
  /// Whether all bits are as they were, apart from the elements of outputs. Poisons the outputs.
  bool nothing_else_written() const;

 private:
  std::vector<StoredTensor> inputs_, outputs_;
  std::vector<std::vector<std::uint64_t>> inputs_before_, outputs_before_;
};

}  // namespace flashlab::test
