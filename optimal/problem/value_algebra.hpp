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
  std::string constant = {};  // of FILL, which has no operands: its constant, "-inf"
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
  /// The values that a program may hold, as the middle of a sentence. They say which programs a
  /// proof covers.
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

/// o[0] = the sum of x, n from 1 to 8: sums of any set of elements.
ValueAlgebra vector_sum(int n);
/// o[0] = the maximum of x, n from 1 to 8: maxima of any set of elements.
ValueAlgebra vector_maximum(int n);
/// o = softmax of x, n from 1 to 5, without exponents that can be positive. Let A and B be sets of
/// elements, A a subset of B, max A the maximum of A's elements, and s the sum of all e^(x_i - max
/// x). The values are: max A; max A - max B; e^(max A - max B); the sum of e^(x_i - max B) for i in
/// A; 0 and 1 (the differences and exponentials for A = B); e^(max A - max x) / s; e^(x_i - max B)
/// / s. The only divisor is s. The values include those of safe softmax, of online softmax, and of
/// all programs between these.
ValueAlgebra safe_softmax(int n, const Instructions& instructions = {toy::Level::kSoftmax, {}});
/// m[0] = max x and s[0] = the sum of e^(x_i - max x), n from 1 to 5: the values of safe_softmax()
/// without the quotients.
ValueAlgebra online_statistics(int n);
/// o[0] = the sum of softmax(q k)_j v_j, n from 1 to 3 keys, d = 1, no scale. With x_j = q k_j, the
/// values are those of safe_softmax(); the sums of e^(x_j - max B) v_j for j in A, and these
/// divided by s; v_j / s; v_i - v_j.
ValueAlgebra one_query_attention(int n,
                                 const Instructions& instructions = {toy::Level::kAttention, {}});
/// Two states (m, l, num[d]) merged into one, d from 1 to 4. The values are those that decomposed()
/// finds in the formulas
///   m = max(m1, m2),  l = l1 e^(m1 - m) + l2 e^(m2 - m),  num = num1 e^(m1 - m) + num2 e^(m2 - m)
ValueAlgebra merged_states(int d);

/// A cell of an output takes only its result; LOAD can load it again, like an input.
struct ValueMachine {
  int registers = 3;
  toy::CostTable costs = {};
  int scratch_cells = 0;               // in DRAM, for any values
  std::optional<int> most_loads = {};  // of inputs, outputs and scratch cells
  /// If set, the only scratch cells are those of the outputs, until they take their results. The
  /// lower bound is proved for a machine with the same number of separate scratch cells; programs
  /// for it can only be cheaper. If its cheapest program does not fit into the outputs' cells, the
  /// answer is not called optimal.
  bool scratch_in_outputs = false;
};

}  // namespace flashlab::optimal
