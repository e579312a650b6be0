// Exact values: what a program computes, as a formula in its inputs, in a form in which equal
// formulas are equal. This proves results; toymachine/trace/symbol.hpp shows them.
//
// A form is a quotient of sums. A term of a sum is  rational * product of atoms^k * e^(form), an
// atom an input cell, a maximum of forms, or a logarithm of one. e^a e^b is one e^(a + b), so that
// online and safe softmax come to the same thing; log(e^a b) is a + log b, e^(log a) is a; two
// quotients are compared by cross products. -inf is a number of its own, and what has no value (x /
// 0, -inf - -inf) an atom that equals only itself. Rounding and range are left out: e^m / e^m'
// equals e^(m - m') here, and not on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// Immutable and cheap to copy.
class NormalForm {
 public:
  struct Node;
  NormalForm() = default;  // what nobody wrote

  bool is_written() const { return node_ != nullptr; }
  /// No maximum, logarithm or exponential, and nothing but numbers below: equality is an identity
  /// between polynomials.
  bool is_polynomial() const;
  /// Equal as functions of the inputs, by the rules above: true is a proof, false is one only for
  /// polynomials and quotients of them.
  friend bool operator==(const NormalForm& a, const NormalForm& b);
  std::size_t hash() const;  // equal forms have equal hashes
  const Node* node() const { return node_.get(); }

 private:
  friend NormalForm make_form(std::shared_ptr<const Node> node);
  std::shared_ptr<const Node> node_;
};

/// What every step of a program computed.
struct NormalRun {
  std::vector<NormalForm> results;  // by step: what it wrote
  std::vector<NormalForm> dram;     // at the end, by element; inputs are atoms
};

/// Executes an unrolled program on forms. Inputs are atoms named after array and indices, so that
/// forms of different programs with the same input arrays can be compared. Errors: a register or
/// cell that nobody wrote is read; Fault::kLimit when a form would have more than `max_terms` terms
/// or the run more than max_terms * 100.
Result<NormalRun> run_normal(const BoundProgram& program, const UnrolledProgram& unrolled,
                             std::size_t max_terms = 2000);

/// As a person would write it: "a[0][0]*b[0][0] + a[0][1]*b[1][0]", "e^(x[0] - max(x[0], x[1]))".
/// Beyond `max_length` characters its middle is left out.
std::string to_string(const NormalForm& form, std::size_t max_length = 200);

}  // namespace flashlab::toy
