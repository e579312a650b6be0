#include "optimal/solve/wanted_results.hpp"

#include <array>
#include <optional>
#include <span>
#include <stdexcept>

#include "toymachine/execute/call_instruction.hpp"

namespace flashlab::optimal::detail {
namespace {

std::string array_line(const char* kind, int rows, int columns) {
  return std::string(kind) + "[" + std::to_string(rows) + "][" + std::to_string(columns) + "]\n";
}

}  // namespace

Sampled applied(std::size_t row, std::span<const Sampled* const> operands, std::size_t points) {
  Sampled result{};
  std::array<double, toy::kMaxOperands> numbers{};
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t i = 0; i < operands.size(); ++i) numbers[i] = (*operands[i])[p];
    result[p] = toy::effect_on_numbers(row, {numbers.data(), operands.size()});
  }
  return result;
}

Wanted wanted_of(const MatrixProduct& product) {
  Wanted wanted;
  for (int i = 0; i < product.num_inputs(); ++i) wanted.inputs.push_back(product.input_name(i));
  for (int i = 0; i < product.num_outputs(); ++i) wanted.outputs.push_back(product.output_name(i));
  wanted.header = array_line(".input a", product.rows, product.inner) +
                  array_line(".input b", product.inner, product.columns) +
                  array_line(".output c", product.rows, product.columns);
  return wanted;
}

void add_results(const MatrixProduct& product, const SamplePoints& points, Wanted& wanted) {
  wanted.results.assign(wanted.outputs.size(), Sampled{});
  for (int term = 0; term < product.num_terms(); ++term) {
    const Sampled& a = points.inputs()[static_cast<std::size_t>(product.factor_a(term))];
    const Sampled& b = points.inputs()[static_cast<std::size_t>(product.factor_b(term))];
    Sampled& sum = wanted.results[static_cast<std::size_t>(product.output_of(term))];
    for (std::size_t p = 0; p < points.size(); ++p) sum[p] += a[p] * b[p];
  }
}

Wanted wanted_of(const ValueAlgebra& algebra) {
  Wanted wanted{algebra.frame.input_cells, algebra.frame.output_cells, {}, {}};
  for (const std::string& line : algebra.frame.declarations) wanted.header += line + "\n";
  return wanted;
}

/// Computes the results with the algebra's own operations.
void add_results(const ValueAlgebra& algebra, const SamplePoints& points, Wanted& wanted) {
  std::vector<std::optional<Sampled>> values(static_cast<std::size_t>(algebra.num_values));
  for (std::size_t i = 0; i < algebra.inputs.size(); ++i) {
    values[static_cast<std::size_t>(algebra.inputs[i])] = points.inputs()[i];
  }
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const ValueOperation& operation : algebra.operations) {
      std::vector<const Sampled*> operands;
      bool are_there = operation.constant.empty();
      for (const int operand : operation.operands) {
        if (operand == kNoValue) continue;
        const auto& value = values[static_cast<std::size_t>(operand)];
        are_there = are_there && value.has_value();
        if (value) operands.push_back(&*value);
      }
      auto& result = values[static_cast<std::size_t>(operation.result)];
      if (result || !are_there) continue;
      result = applied(*toy::find_instruction(operation.mnemonic), operands, points.size());
      is_new = true;
    }
  }
  for (const int output : algebra.outputs) {
    const auto& value = values[static_cast<std::size_t>(output)];
    if (!value) throw std::invalid_argument("an output that is made of constants");
    wanted.results.push_back(*value);
  }
}

}  // namespace flashlab::optimal::detail
