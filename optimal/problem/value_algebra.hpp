// Computations with finitely many useful values: sum, maximum, softmax, attention of one query, and
// decomposed small programs.
//
// A register holds one of the values, or nothing useful; an operation makes a value from values. A
// proof covers the programs that consist of the algebra's operations only. Copies are not among
// them: an instruction's destination is any register, so MOV is never needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimal/problem/program_frame.hpp"
#include "optimal/problem/progress.hpp"
#include "toymachine/forms/normal_form.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::optimal {

inline constexpr int kNoValue = -1;
using Operands = std::array<int, 3>;

/// result = MNEMONIC of the operands, in the instruction's order. Values are numbered from 0.
struct ValueOperation {
  std::string_view mnemonic;
  Operands operands{kNoValue, kNoValue, kNoValue};
  int result = 0;
  /// Only for FILL, which has no operands: the constant that it writes, such as "-inf".
  std::string constant = {};
};

/// The instructions of a machine: those of a level, and further rows of the instruction table.
struct Instructions {
  toy::Level level = toy::Level::kSoftmax;
  std::vector<std::size_t> extra = {};

  bool has(std::size_t row) const;
  /// Returns the argument of .isa: "softmax, FILL".
  std::string text() const;
};

struct ValueAlgebra {
  std::string title;
  /// The values that a program may hold, and so the programs that a proof covers. The text
  /// completes "The proof is about programs in which ...".
  std::string allowed;
  ProgramFrame frame;
  int num_values = 0;
  std::vector<int> inputs;             // by input cell: its value
  std::vector<int> outputs;            // by output cell: the value that it must hold
  std::vector<toy::NormalForm> forms;  // by value: its formula over the frame's input cells
  std::vector<ValueOperation> operations;
  /// Renumberings of the values that map inputs to inputs, outputs to outputs, and operations to
  /// operations of the same mnemonic. The first one is the identity.
  std::vector<std::vector<int>> symmetries;
};

/// o[0] = the sum of x, n from 1 to 8. The values are the sums of all non-empty sets of elements.
ValueAlgebra vector_sum(int n);
/// o[0] = the maximum of x, n from 1 to 8. The values are the maxima of all non-empty sets of
/// elements.
ValueAlgebra vector_maximum(int n);
/// o = softmax of x, n from 1 to 5, without exponents that can be positive. Let A and B be sets of
/// elements, A a subset of B, max A the maximum of A's elements, and s the sum of all e^(x_i - max
/// x). The values are: max A; max A - max B; e^(max A - max B); the sum of e^(x_i - max B) for i in
/// A; 0 and 1 (the differences and exponentials for A = B); e^(max A - max x) / s; e^(x_i - max B)
/// / s. The only divisor is s. The values include those of safe softmax, those of online softmax,
/// and those of all programs that mix the two.
ValueAlgebra safe_softmax(int n, const Instructions& instructions = {toy::Level::kSoftmax, {}});
/// m[0] = max x and s[0] = the sum of e^(x_i - max x), n from 1 to 5: the values of safe_softmax()
/// without the quotients.
ValueAlgebra online_statistics(int n);
/// o[0] = the sum of softmax(q k)_j v_j, n from 1 to 3 keys, d = 1, no scale. Let x_j = q k_j. The
/// values are: q, k_j, v_j; those of safe_softmax(); for A and B as there, the sum of
/// e^(x_j - max B) v_j for j in A, and this sum divided by s; v_j / s; v_i - v_j.
ValueAlgebra one_query_attention(int n,
                                 const Instructions& instructions = {toy::Level::kAttention, {}});
/// Two states (m, l, num[d]) merged into one, d from 1 to 4. The values are those that decomposed()
/// finds in the formulas
///   m = max(m1, m2),  l = l1 e^(m1 - m) + l2 e^(m2 - m),  num = num1 e^(m1 - m) + num2 e^(m2 - m)
ValueAlgebra merged_states(int d);

/// The machine on which an algebra's programs run. The cell of an output takes only that output's
/// result (except with scratch_in_outputs). A stored result can be loaded again, like an input.
struct ValueMachine {
  int registers = 3;
  toy::CostTable costs = {};
  int scratch_cells = 0;               // in DRAM, for any values
  std::optional<int> most_loads = {};  // of inputs, outputs and scratch cells
  /// If set, the only scratch cells are those of the outputs, until they take their results. The
  /// lower bound is proved for a machine that has `scratch_cells` separate cells. Its cheapest
  /// program costs at most as much as the cheapest one here. If that program's values do not fit
  /// into the outputs' cells, the answer is not called optimal.
  bool scratch_in_outputs = false;
};

}  // namespace flashlab::optimal
