// Exact values: the results of a program as formulas in its inputs, in a form in which equal
// formulas are equal. This is for proofs; toymachine/trace/symbol.hpp is for display.
//
// A form is a quotient of sums. A term of a sum is  rational * product of atoms^k * e^(form). An
// atom is an input cell, a maximum of forms, or a logarithm of a form. e^a e^b is the single e^(a +
// b), so that online and safe softmax give the same form; log(e^a b) is a + log b, and e^(log a) is
// a. Two quotients are compared by cross products. -inf is a separate number, and an undefined
// result (x / 0, -inf - -inf) is an atom that equals only itself. Rounding and range are ignored:
// e^m / e^m' equals e^(m - m') here, but not on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// Immutable and cheap to copy.
class NormalForm {
 public:
  struct Node;
  NormalForm() = default;  // never written

  bool is_written() const { return node_ != nullptr; }
  /// Whether there is no maximum, logarithm or exponential, and only numbers as denominators:
  /// equality is then an identity of polynomials.
  bool is_polynomial() const;
  /// Whether they are equal as functions of the inputs, by the rules above. True is a proof; false
  /// is a proof only for polynomials and their quotients.
  friend bool operator==(const NormalForm& a, const NormalForm& b);
  std::size_t hash() const;  // equal forms have equal hashes
  const Node* node() const { return node_.get(); }

 private:
  friend NormalForm make_form(std::shared_ptr<const Node> node);
  std::shared_ptr<const Node> node_;
};

/// The results of all steps of a program.
struct NormalRun {
  std::vector<NormalForm> results;  // by step: the form that it wrote
  std::vector<NormalForm> dram;     // at the end, by element; inputs are atoms
};

/// Executes an unrolled program on forms. Inputs are atoms named by array and indices, so that
/// forms of programs with the same input arrays can be compared. Errors: a step reads a register or
/// cell that was never written; Fault::kLimit if a form would have more than `max_terms` terms, or
/// the run more than max_terms * 100.
Result<NormalRun> run_normal(const BoundProgram& program, const UnrolledProgram& unrolled,
                             std::size_t max_terms = 2000);

/// A number that a text calls by its name: a constant of the program.
struct NumberName {
  double value = 0;
  std::string name;
};

/// Returns a program's constants, except 0, 1 and -1, which read better as numbers.
std::vector<NumberName> constant_names(const BoundProgram& program);

/// The usual notation: "a[0][0]*b[0][0] + a[0][1]*b[1][0]", "e^(x[0] - max(x[0], x[1]))". A longer
/// text than `max_length` characters loses its middle. Numbers with a name, and their squares, are
/// written by it: "scale*a[0][0]".
std::string to_string(const NormalForm& form, std::size_t max_length = 200,
                      std::span<const NumberName> names = {});

}  // namespace flashlab::toy
