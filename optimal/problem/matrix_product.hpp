// The computations and machines of the exact solver: a matrix product and a number of registers.
//
// Only certain values are useful to a cheapest program. The inputs are independent variables, and
// the machine's products and sums have no minus sign. So every monomial of a value remains in all
// values that are made from it. Therefore only two kinds of values can go into c_ij = sum over p of
// a_ip b_pj. A factor is an input, which is multiplied by the other input of a term. An addend is a
// partial sum: some of c_ij's terms, each at most once. Every other value is useless.
// Sums may take their terms in any order and from any start (addition is taken as associative and
// commutative; rounding is not compared).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "optimal/problem/program_frame.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::optimal {

/// C = A B, with A [rows, inner], B [inner, columns], C [rows, columns]; a dot product is 1 x n
/// x 1.
struct MatrixProduct {
  int rows = 2, inner = 2, columns = 2;

  int num_terms() const { return rows * inner * columns; }
  int num_outputs() const { return rows * columns; }
  int num_inputs() const { return inner * (rows + columns); }

  /// Inputs are numbered through A and then B; outputs and terms row by row. p is the term's
  /// index in c_ij.
  int input_a(int i, int p) const { return i * inner + p; }
  int input_b(int p, int j) const { return rows * inner + p * columns + j; }
  int output(int i, int j) const { return i * columns + j; }
  int term(int i, int p, int j) const { return output(i, j) * inner + p; }

  /// The two factors of a term, and the output that it belongs to.
  int factor_a(int term) const { return input_a(term / inner / columns, term % inner); }
  int factor_b(int term) const { return input_b(term % inner, term / inner % columns); }
  int output_of(int term) const { return term / inner; }

  /// "a[0][1]" or "b[1][0]", "c[1][1]".
  std::string input_name(int input) const;
  std::string output_name(int output) const;
};

/// Arrays a, b and c, at level "matmul".
ProgramFrame product_frame(const MatrixProduct& product);

/// Cycles of the four instructions of a product; none is negative.
struct ProductCosts {
  std::int64_t load = 1, store = 1, first_product = 1, next_product = 1;  // LOAD STORE MAC_Z MAC
};
/// Returns the cycles of one execution on scalars: the fixed cycles, and those of one unit of work,
/// such as an element or a flop.
std::int64_t scalar_cycles(const toy::CostTable& costs, std::string_view mnemonic);
/// Returns the product's costs from the machine's cost table.
ProductCosts product_costs(const toy::CostTable& costs);

struct ProductMachine {
  int registers = 3;
  toy::OperandRule operand_rule = toy::OperandRule::kAny;
  /// Whether a partial sum may be stored and loaded again; otherwise only finished
  /// outputs are stored.
  bool allow_spills = false;
  ProductCosts costs;
};

}  // namespace flashlab::optimal
