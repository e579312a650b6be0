// From a set of values, given as exact forms, to an algebra: finds every instruction of a level
// that makes one of the values from others.
//
// Values and operations are identified by what they evaluate to at random points: two that agree at
// all points are taken as one function. A false match only adds an operation. A lower bound may
// then become too small, but never too large: it still holds for all programs over the values. If
// the rules of the forms prove an equality, the match does not depend on chance. The rules cannot
// prove equalities that need a monotonic function, such as
// max(e^(x - m), e^(y - m)) = e^(max(x, y) - m).
// A false match could also lead to a wrong program. So the tests and the exercises' grader run the
// programs that searches find.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "optimal/problem/value_algebra.hpp"
#include "toymachine/forms/form_algebra.hpp"

namespace flashlab::optimal {

/// With more values, finding the operations is too slow, and no search would finish.
inline constexpr int kMostValues = 1000;

class ClosureValues {
 public:
  toy::FormAlgebra& forms() { return forms_; }
  int size() const { return static_cast<int>(values_.size()); }
  const toy::NormalForm& form(int value) const { return values_[static_cast<std::size_t>(value)]; }

  /// Returns the number of the value, which is added if it is new. Errors:
  /// std::length_error beyond kMostValues.
  int add(const toy::NormalForm& form);
  /// Returns the value's number, or kNoValue.
  int find(const toy::NormalForm& form);
  /// A cell that a program may load; `form` is the cell itself.
  void add_input(const toy::NormalForm& form, std::string cell);
  void add_output(const toy::NormalForm& form, std::string cell);
  /// Allows a value as a divisor. No other value may be one, because it may be 0 or underflow.
  void allow_division_by(const toy::NormalForm& form) { divisors_.push_back(add(form)); }
  /// Proposes a symmetry: inputs[i] is the input that replaces input i. The proposal is accepted if
  /// it maps every value to a value, outputs to outputs and divisors to divisors, and if the group
  /// that all accepted symmetries generate stays small.
  void add_symmetry(std::vector<int> inputs) { permutations_.push_back(std::move(inputs)); }

  /// Returns the algebra with all operations of the machine between the values, and the symmetries.
  ValueAlgebra close(std::string title, const Instructions& instructions);

 private:
  friend class Closure;
  using Point = std::vector<double>;
  Point evaluated(const toy::NormalForm& form) const;
  int find(const Point& point) const;

  toy::FormAlgebra forms_;
  std::vector<toy::NormalForm> values_;
  std::vector<Point> points_;                     // by value: what it evaluates to at each point
  std::vector<std::pair<double, int>> by_first_;  // sorted: the result at the first point, value
  std::vector<int> inputs_, outputs_, divisors_;
  std::vector<std::string> input_cells_, output_cells_;
  std::vector<std::vector<int>> permutations_;
};

}  // namespace flashlab::optimal
