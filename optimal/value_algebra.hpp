// Computations on a vector x[n] that have finitely many useful values: sum, maximum, softmax.
//
// A register holds one of the values, or nothing of use; an operation makes a value from values. A
// proof is about the programs that are made of the algebra's operations, and of no others. Copies
// are not among them: an instruction's destination is any register, so MOV is never needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "optimal/solve.hpp"
#include "toymachine/machine.hpp"

namespace flashlab::optimal {

/// result = a OP b, or OP a with b < 0. Values are numbered from 0.
struct ValueOperation {
  std::string_view mnemonic;
  int a = 0, b = -1, result = 0;
};

struct ValueAlgebra {
  std::string title;
  int num_values = 0;
  std::vector<int> inputs;   // by i: the value of x[i]
  std::vector<int> outputs;  // by i: the value that belongs into o[i]
  std::vector<ValueOperation> operations;
  /// Renumberings of the values that map inputs to inputs, outputs to outputs, and operations to
  /// operations of the same mnemonic; the first one changes nothing.
  std::vector<std::vector<int>> symmetries;
};

/// o[0] = the sum of x: sums of any set of elements, made of two disjoint ones.
ValueAlgebra vector_sum(int n);
/// o[0] = the maximum of x: maxima of any set of elements, made of any two.
ValueAlgebra vector_maximum(int n);
/// o = softmax of x, n >= 2, with no exponent that can be positive. With max A the maximum of the
/// elements of a set A, A within B, and s = the sum of e^(x_i - max x): the values are max A; max A
/// - max B; e^(max A - max B); the sum of e^(x_i - max B) for i in A; 0 and 1, which A = B makes;
/// e^(max A - max x) / s; e^(x_i - max B) / s. The operations: maxima of two sets; differences, and
/// steps between them; exponentials; sums of disjoint sets; rescaling from B to C by e^(max B - max
/// C); division by s and by nothing else. Safe and online softmax, and all that is between them.
ValueAlgebra safe_softmax(int n);

/// The cheapest program with this many registers. Errors: std::invalid_argument for more than 7
/// registers, more than 8 outputs, more than 255 values.
Answer solve(const ValueAlgebra& algebra, int registers, const toy::CostTable& costs,
             const SolveLimits& limits = {});

/// The same by uniform-cost search over all that each register can hold, overwriting whichever:
/// and judges solve().
struct PlainValueAnswer {
  std::int64_t cycles = -1;  // -1: no program exists
  std::uint64_t states = 0;
};
PlainValueAnswer plain_value_search(const ValueAlgebra& algebra, int registers,
                                    const toy::CostTable& costs);

}  // namespace flashlab::optimal
