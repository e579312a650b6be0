// From a set of values, given as exact forms, to an algebra: every instruction of a level that
// makes one of the values from others.
//
// Values and operations are found by what they come to at random points: two that agree at all of
// them are taken as one function. Whoever finds too many operations proves too little, never too
// much: a bound holds for all programs over the values, whatever else it allows. Where a rule of
// the forms proves the equality, nothing is left to chance; it does not where maxima are compared
// (the maximum of e^(x - m) and e^(y - m) is e^(max(x, y) - m)). Witnesses are checked on the
// machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "optimal/problem/value_algebra.hpp"
#include "toymachine/forms/form_algebra.hpp"

namespace flashlab::optimal {

/// More make closing it too slow, and no search would get through.
inline constexpr int kMostValues = 1000;

class ValueSet {
 public:
  toy::FormAlgebra& forms() { return forms_; }
  int size() const { return static_cast<int>(values_.size()); }
  const toy::NormalForm& form(int value) const { return values_[static_cast<std::size_t>(value)]; }

  /// The number of the value, which is new or there already. Errors: std::length_error beyond
  /// kMostValues.
  int add(const toy::NormalForm& form);
  /// Its number, or kNoValue.
  int find(const toy::NormalForm& form);
  /// A cell that a program may load; `form` is the cell itself.
  void add_input(const toy::NormalForm& form, std::string cell);
  void add_output(const toy::NormalForm& form, std::string cell);
  /// A value that others may be divided by: no other is, since it may be 0 or underflow.
  void allow_division_by(const toy::NormalForm& form) { divisors_.push_back(add(form)); }
  /// A renumbering of the inputs, by number, that may be a symmetry: it is one where all values
  /// have an image among the values, and outputs among the outputs. With several of them come those
  /// that they make one after the other.
  void add_symmetry(std::vector<int> inputs) { permutations_.push_back(std::move(inputs)); }

  /// All operations of the machine between the values, and the symmetries.
  ValueAlgebra close(std::string title, const Instructions& instructions);

 private:
  friend class Closure;
  using Point = std::vector<double>;
  Point evaluated(const toy::NormalForm& form) const;
  int find(const Point& point) const;

  toy::FormAlgebra forms_;
  std::vector<toy::NormalForm> values_;
  std::vector<Point> points_;                     // by value: what it is at each point
  std::vector<std::pair<double, int>> by_first_;  // sorted: at the first point, and the value
  std::vector<int> inputs_, outputs_, divisors_;
  std::vector<std::string> input_cells_, output_cells_;
  std::vector<std::vector<int>> permutations_;
};

}  // namespace flashlab::optimal
