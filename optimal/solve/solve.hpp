// The cheapest program for a matrix product or a value algebra, and the proof that none is cheaper.
//
// A quick search finds a program, whose cost is an upper bound. A* then searches the states of
// optimal/products/product_states.hpp for a product, and those of optimal/problem/value_space.hpp
// for an algebra: one from each class of symmetric states. These headers say what a program may do,
// and why no other program needs to be considered. plain_search() and plain_value_search() check
// the results without relying on this reasoning.
#pragma once

#include "optimal/problem/answer.hpp"
#include "optimal/problem/matrix_product.hpp"
#include "optimal/problem/program_frame.hpp"
#include "optimal/problem/progress.hpp"
#include "optimal/problem/value_algebra.hpp"
#include "optimal/search/limits.hpp"

namespace flashlab::optimal {

/// Finds the cheapest completion of a partly executed program (`from`). The answer counts only the
/// cycles that remain. With the default `from`, this is the cheapest program. Sums in DRAM, other
/// than finished ones in their cells, are useful only if the machine allows spills. `frame` is the
/// program's; the default is product_frame(). Errors: std::invalid_argument for sizes below 1,
/// products whose states do not fit 64 bits (such as 3 x 4 x 4 with spills), costs whose sums do
/// not fit 30 bits, and for a state that is impossible on the machine or has too many sums to
/// choose from.
Answer solve(const MatrixProduct& product, const ProductMachine& machine,
             const SolveLimits& limits = {}, const ProductProgress& from = {},
             const ProgramFrame& frame = {});

/// Finds the cheapest completion of a partly executed program (`from`). The answer counts only the
/// cycles that remain. With the default `from`, this is the cheapest program. Errors:
/// std::invalid_argument for more than 16 registers, 8 scratch cells, 32 outputs or 1023 values,
/// for a state of more than 256 bits, for costs whose sums do not fit 30 bits, and for a state that
/// is impossible on the machine.
Answer solve(const ValueAlgebra& algebra, const ValueMachine& machine,
             const SolveLimits& limits = {}, const ValueProgress& from = {});

}  // namespace flashlab::optimal
