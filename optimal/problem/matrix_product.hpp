// The computations and machines that the exact solver knows: a matrix product, and a number
// of registers.
//
// Which values a cheapest program can hold. All inputs are independent variables, and the machine's
// products and sums have no minus sign: no monomial that is in a value ever leaves the values made
// from it. So whatever goes into c_ij = sum over p of a_ip b_pj has no monomial but those, each at
// most once: a factor is an input, its partner the other input of a term, and an addend a partial
// sum of some of c_ij's terms. Every other value is waste. Sums may take their terms in any order
// and from any start (addition is taken as associative and commutative; rounding is not compared).
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

  /// Inputs are numbered through A and then B, outputs and terms row by row; p is the term of c_ij.
  int input_a(int i, int p) const { return i * inner + p; }
  int input_b(int p, int j) const { return rows * inner + p * columns + j; }
  int output(int i, int j) const { return i * columns + j; }
  int term(int i, int p, int j) const { return output(i, j) * inner + p; }

  /// The two factors of a term, and its output.
  int factor_a(int term) const { return input_a(term / inner / columns, term % inner); }
  int factor_b(int term) const { return input_b(term % inner, term / inner % columns); }
  int output_of(int term) const { return term / inner; }

  /// "a[0][1]" or "b[1][0]", "c[1][1]".
  std::string input_name(int input) const;
  std::string output_name(int output) const;
};

/// Arrays a, b and c, at level "matmul".
ProgramFrame product_frame(const MatrixProduct& product);

/// Cycles of the four instructions that a product needs, none of them negative.
struct ProductCosts {
  std::int64_t load = 1, store = 1, first_product = 1, next_product = 1;  // LOAD STORE MAC_Z MAC
};
/// Cycles of one execution on scalars: one unit of work, whatever the unit.
std::int64_t scalar_cycles(const toy::CostTable& costs, std::string_view mnemonic);
/// Those of the machine's cost table.
ProductCosts product_costs(const toy::CostTable& costs);

struct ProductMachine {
  int registers = 3;
  toy::OperandRule operand_rule = toy::OperandRule::kAny;
  /// A partial sum may be stored and loaded again; otherwise only finished outputs are stored.
  bool allow_spills = false;
  ProductCosts costs;
};

}  // namespace flashlab::optimal
