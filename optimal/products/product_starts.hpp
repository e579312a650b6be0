// Where a search begins when a program stands somewhere already.
//
// A live program goes on from at most one of an output's partial sums, or computes the output from
// the start: each choice for each output is a start of its own, with what it has left to pay beside
// loads and spills. A sum that is not chosen is of no use, and its register is free. Of two in
// registers, or two in DRAM, one whose terms are among the other's need not be tried: the other's
// continuation leaves out products and nothing else. A finished sum in a register is stored at
// once.
#pragma once

#include <cstdint>
#include <vector>

#include "optimal/problem/matrix_product.hpp"
#include "optimal/problem/standing.hpp"
#include "optimal/search/node_table.hpp"

namespace flashlab::optimal::detail {

struct ProductStart {
  State terms = 0;            // done, at the bits that ProductStates gives them
  std::uint64_t in_dram = 0;  // the outputs whose sum is there, as a set of output numbers
  std::int64_t cycles = 0;    // of the remaining products and stores, spills not counted
};

struct ProductStarts {
  std::vector<int> inputs;  // held where a product can take them
  std::vector<ProductStart> starts;
  std::int64_t least_cycles = 0;
  std::int64_t differences = 0;  // the common divisor of what their cycles differ by
};

/// Errors: std::invalid_argument.
ProductStarts product_starts(const MatrixProduct& product, const ProductMachine& machine,
                             const ProductStanding& from);

}  // namespace flashlab::optimal::detail
