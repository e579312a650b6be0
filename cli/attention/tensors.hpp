// The tensors of one attention call in the command's memory: random inputs, poisoned outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "attention/problem.hpp"
#include "attention/variants.hpp"

namespace flashlab::cli {

/// Returns the number of elements of that shape. Throws Failure if there are more than 2^48.
std::int64_t element_count(const char* name, const std::vector<std::int64_t>& shape);

/// A row-major tensor with its own memory.
class OwnedTensor {
 public:
  /// Throws Failure if there is not enough memory.
  OwnedTensor(const char* name, DataType dtype, std::vector<std::int64_t> shape);

  const char* name() const { return name_; }
  TensorView view() const;
  std::int64_t size() const { return size_; }
  std::vector<double> values() const;
  void for_each(const std::function<void(double)>& visit) const;
  /// Sets every element to the next number, rounded to the data type.
  void generate(const std::function<double()>& next);
  void fill_with_nan();

 private:
  const char* name_;
  DataType dtype_;
  std::vector<std::int64_t> shape_;
  std::int64_t size_;
  std::unique_ptr<std::byte[]> data_;
};

struct AttentionTensors {
  OwnedTensor Q, K, V, dO, O, lse, dQ, dK, dV;

  AttentionTensors(const AttentionProblem& problem, DataType dtype);

  ForwardTensors forward() const;
  BackwardTensors backward() const;
  /// Returns O and lse, or dQ, dK and dV.
  std::vector<OwnedTensor*> outputs(Pass pass);

  /// Draws Q, K, V, dO: normally distributed.
  void draw_inputs(std::uint64_t seed);
  /// Copies the inputs of `other` by value.
  void copy_inputs(const AttentionTensors& other);
  /// Rounds floats as tensor cores do: 10 fraction bits, ties away from zero.
  void round_inputs_to_tf32();
};

}  // namespace flashlab::cli
