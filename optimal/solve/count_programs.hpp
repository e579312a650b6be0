// Counts the different programs with exactly a given cost. If that is the optimal cost, these are
// the optimal programs.
//
// A program is the sequence of its instructions with the values that they handle: the cell that is
// loaded, the term and the sum that it is added to, the operation and its operands' values, the
// cell that is stored. Programs that differ only in the names of registers, in which of several
// dead registers is overwritten, or in the order of factors or summands are the same program.
// Programs with another order of instructions are different. Only live programs are counted: in
// these, every instruction's result is used and goes into an output. If all instructions cost
// something, every optimal program is live.
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
  /// The number of symmetries that map programs to programs of the same cost. For a product: the
  /// orders of rows, columns and terms, and the transposition if C is square. For an algebra: those
  /// that it states; 1 if some program may do without an input, or if two symmetries agree on all
  /// inputs. No symmetry other than the identity maps a program to itself, so their number divides
  /// that of the programs.
  mpz_class symmetries = 1;
  mpz_class up_to_symmetry;  // programs divided by symmetries
  std::uint64_t states = 0;  // live sets visited, some at several costs
  double seconds = 0;
};

/// Returns nothing if limits.max_bytes or max_seconds is reached, or the caller cancels. With
/// spills, a partial sum may be stored in any cell of DRAM; programs that differ only in this cell
/// are the same. Errors: std::invalid_argument as for solve(); for products whose live sets do not
/// fit 64 bits; and for instructions that cost nothing and could be repeated forever (an algebra's
/// operations; a spill and its reload).
std::optional<ProgramCount> count_programs(const MatrixProduct& product,
                                           const ProductMachine& machine, std::int64_t cycles,
                                           const SolveLimits& limits = {});
std::optional<ProgramCount> count_programs(const ValueAlgebra& algebra, const ValueMachine& machine,
                                           std::int64_t cycles, const SolveLimits& limits = {});

}  // namespace flashlab::optimal
