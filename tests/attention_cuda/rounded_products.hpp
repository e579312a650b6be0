// The plain implementation in the precision of a kernel's products: the textbook in float, with the
// operands of the products rounded as the kernel's arithmetic rounds them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attention_cuda/registry.hpp"
#include "tests/attention_cpu/generated_case.hpp"
#include "tests/attention_cpu/stored_tensor.hpp"
#include "tests/attention_cpu/textbook.hpp"

namespace flashlab::test {

/// 10 bits of fraction; ties away from zero.
inline float rounded_to_tf32(float value) {
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000u) & ~0x1fffu);
}

class RoundedProducts {
 public:
  explicit RoundedProducts(const cuda::Arithmetic& arithmetic) : arithmetic_(arithmetic) {}

  float operator()(float operand) const {
    if (arithmetic_.products == cuda::Products::kTensorFloat32) return rounded_to_tf32(operand);
    return static_cast<float>(rounded(arithmetic_.dtype, operand));
  }

  /// Relative error of a score beyond rounding in float.
  double score_epsilon() const {
    if (arithmetic_.products == cuda::Products::kTensorFloat32) return std::ldexp(1.0, -10);
    // Tensor cores round sums towards zero, and a sum of three products a step is rounded three times as often.
    constexpr double kOfFloat = std::numeric_limits<float>::epsilon();
    return arithmetic_.products == cuda::Products::kTensorFloat32x3 ? 2 * kOfFloat : kOfFloat;
  }
  /// Of P and dS as they are multiplied.
  double operand_epsilon() const {
    if (arithmetic_.dtype == DataType::kBFloat16) return std::ldexp(1.0, -8);
    if (arithmetic_.dtype == DataType::kFloat16) return std::ldexp(1.0, -11);
    return 0;
  }

  textbook::Forward<float> forward(const textbook::Problem& problem, const CaseInputs& in) const {
    return textbook::forward(problem, operands(in.Q), operands(in.K), operands(in.V), *this);
  }
  textbook::Backward<float> backward(const textbook::Problem& problem, const CaseInputs& in,
                                     const ForwardOutputs& forward) const {
    return textbook::backward(problem, operands(in.Q), operands(in.K), operands(in.V),
                              forward.O.values<float>(), forward.lse.values<float>(),
                              operands(in.dO), *this);
  }

 private:
  std::vector<float> operands(const StoredTensor& tensor) const {
    std::vector<float> values = tensor.values<float>();
    for (float& value : values) value = (*this)(value);
    return values;
  }

  const cuda::Arithmetic arithmetic_;
};

}  // namespace flashlab::test
