// How many different programs cost exactly so much: with the optimal cost, how many optimal ones.
//
// A program is the sequence of its instructions by the values that they handle: the cell that is
// loaded, the term and the sum that it is added to, the operation and its operands' values, the
// cell that is stored. Programs that differ in the registers' names, in which of several dead
// registers is overwritten, or in the order of factors or summands, are the same one. Programs
// whose instructions are in another order are different. Counted are live programs, those in which
// every instruction's result is used and comes into an output; where all instructions cost
// something, an optimal program is one.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <optional>

#include "optimal/problem/computation.hpp"
#include "optimal/problem/matrix_product.hpp"
#include "optimal/problem/value_algebra.hpp"
#include "optimal/solve/solve.hpp"

namespace flashlab::optimal {

struct ProgramCount {
  mpz_class programs;
  /// The symmetries that map programs to programs of the same cost: of a product, the orders of
  /// rows, columns and terms, and its transpose if it is square; of an algebra, those that it
  /// states. They act freely: a program loads every input, and what fixes all inputs fixes
  /// everything.
  mpz_class symmetries = 1;
  mpz_class up_to_symmetry;  // programs over symmetries
  std::uint64_t states = 0;  // live sets that were visited, some at several costs
  double seconds = 0;
};

/// Nothing where limits.max_bytes or max_seconds is reached, or the caller cancels. With spills a
/// partial sum may be stored anywhere. Errors: std::invalid_argument as solve()'s, for products
/// whose live sets do not fit 64 bits, and for instructions that cost nothing and could be repeated
/// without end (an algebra's operations; a spill and its reload).
std::optional<ProgramCount> count_programs(const MatrixProduct& product,
                                           const ProductMachine& machine, std::int64_t cycles,
                                           const SolveLimits& limits = {});
std::optional<ProgramCount> count_programs(const ValueAlgebra& algebra, const ValueMachine& machine,
                                           std::int64_t cycles, const SolveLimits& limits = {});

}  // namespace flashlab::optimal
