// The starts of a search for a program that is partly executed already.
//
// A live program continues with at most one of an output's partial sums, or computes the output
// from the beginning. Each combination of these choices is a separate start, with the remaining
// cost besides loads and spills. A sum that is not chosen is useless, and its register is free. If
// there are two sums in registers, or two in DRAM, and the terms of one include those of the other,
// the smaller one need not be tried: the larger one can continue in the same way, without the
// products that it contains already. A finished sum in a register is stored at once.
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
  std::int64_t cycles = 0;    // for the remaining products and stores, without spills
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
