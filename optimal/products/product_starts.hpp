// The starts of a search for a program that is partly executed already.
//
// A live program continues with at most one of an output's partial sums, or computes the output
// from the beginning. Each combination of these choices is a separate start. Its cost is that of
// the products and stores that remain, without loads and later spills. A sum that is not chosen is
// useless, and its register is free. Let two sums of one output both be in registers, or both in
// DRAM. If the terms of one include those of the other, the smaller sum need not be tried: the
// larger one can continue in the same way, without the products that it contains already. A
// finished sum in a register is stored at once.
#pragma once

#include <cstdint>
#include <vector>

#include "optimal/problem/matrix_product.hpp"
#include "optimal/problem/progress.hpp"
#include "optimal/search/node_table.hpp"

namespace flashlab::optimal::detail {

struct ProductStart {
  State terms = 0;            // terms that are done, as bits of ProductStates
  std::uint64_t in_dram = 0;  // set of the outputs whose sum is in DRAM
  /// For the remaining products and stores, and for spilling the chosen sums that R0 and R1 hold.
  std::int64_t cycles = 0;
};

struct ProductStarts {
  std::vector<int> inputs;  // held in registers from which products can read them
  std::vector<ProductStart> starts;
  std::int64_t least_cycles = 0;
  std::int64_t differences = 0;  // greatest common divisor of the differences in cycles
};

/// Errors: std::invalid_argument.
ProductStarts product_starts(const MatrixProduct& product, const ProductMachine& machine,
                             const ProductProgress& from);

}  // namespace flashlab::optimal::detail
