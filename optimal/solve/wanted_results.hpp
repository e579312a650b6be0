// The results that a program must store, as numbers at the sample points.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "optimal/problem/matrix_product.hpp"
#include "optimal/problem/sampled_values.hpp"
#include "optimal/problem/value_algebra.hpp"

namespace flashlab::optimal::detail {

/// The cells of inputs and outputs, and what the outputs evaluate to at the points.
struct Wanted {
  std::vector<std::string> inputs, outputs;  // cells
  std::string header;
  std::vector<Sampled> results;
};

/// Applies an instruction to its operands at each of the points.
Sampled applied(std::size_t row, std::span<const Sampled* const> operands, std::size_t points);

/// Returns everything except the results.
Wanted wanted_of(const MatrixProduct& product);
Wanted wanted_of(const ValueAlgebra& algebra);

/// Adds the results at the points. Errors: std::invalid_argument for an output made of constants.
void add_results(const MatrixProduct& product, const SamplePoints& points, Wanted& wanted);
void add_results(const ValueAlgebra& algebra, const SamplePoints& points, Wanted& wanted);

}  // namespace flashlab::optimal::detail
