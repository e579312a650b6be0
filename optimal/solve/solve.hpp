// The cheapest program for a matrix product or a value algebra, and the proof that there is no
// cheaper one.
//
// A* over the states of optimal/products/product_states.hpp, one of each class of symmetric states,
// after a beam search whose program bounds the answer from above. What a program may do, and why no
// other program need be looked at, is argued there; plain_search() checks it without the arguments.
#pragma once

#include "optimal/problem/answer.hpp"
#include "optimal/problem/matrix_product.hpp"
#include "optimal/problem/program_frame.hpp"
#include "optimal/problem/standing.hpp"
#include "optimal/problem/value_algebra.hpp"
#include "optimal/search/limits.hpp"

namespace flashlab::optimal {

/// The cheapest completion from where a program stands, all cycles being those that remain; from
/// nothing, the cheapest program. Sums in DRAM other than finished ones in their cells are of use
/// only to a machine that allows spills. `frame` is the program's: by default product_frame().
/// Errors: std::invalid_argument for sizes below 1, products whose states do not fit 64 bits (as
/// 3 x 4 x 4 with spills), costs too far apart to add up in 30 bits, and for a
/// standing that the machine cannot have, or with too many sums to choose from.
Answer solve(const MatrixProduct& product, const ProductMachine& machine,
             const SolveLimits& limits = {}, const ProductStanding& from = {},
             const ProgramFrame& frame = {});

/// The cheapest completion from where a program stands, all cycles being those that remain; from
/// nothing, the cheapest program. Errors: std::invalid_argument for more than 16 registers, 8
/// scratch cells, 32 outputs or 1023 values, for a state of more than 256 bits, for costs that do
/// not add up in 30 bits, and for a standing that the machine cannot have.
Answer solve(const ValueAlgebra& algebra, const ValueMachine& machine,
             const SolveLimits& limits = {}, const ValueStanding& from = {});

}  // namespace flashlab::optimal
