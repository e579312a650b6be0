// The computation of a small program as an algebra: the values that its outputs' formulas
// are made of.
//
// A sum may be made from any two parts of it, and common factors of a part may be taken out. A
// product may be made from any of its factors, and a quotient may be divided as a whole or in
// parts. A maximum may be taken of any of its arguments first. e^(a - b) may only be made from
// a - b, or from other exponentials of such differences. So no new overflow is possible. The values
// that the program itself makes are added, so that the proof also covers that program.
#pragma once

#include <string>
#include <vector>

#include "optimal/problem/value_algebra.hpp"
#include "toymachine/forms/normal_form.hpp"

namespace flashlab::optimal {

struct Stated {
  struct Cell {
    std::string name;      // "x[0]"
    toy::NormalForm form;  // its value at the beginning, or at the end
  };
  std::string title;
  Instructions instructions;
  std::vector<std::string> declarations;  // of the witness
  std::vector<Cell> inputs;               // all inputs
  std::vector<Cell> outputs;              // all that must be stored
  std::vector<toy::NormalForm> made;      // the values that the program computes; may be empty
  std::vector<toy::NormalForm> divisors;  // the values that it divides by
};

/// Returns the algebra of the computation, without inputs that no output depends on. Errors:
/// std::length_error if there are more values than `most_values`, or if a sum, product or maximum
/// is too long to decompose; std::invalid_argument for an output that is -inf or undefined.
ValueAlgebra decomposed(const Stated& stated, int most_values = 400);

}  // namespace flashlab::optimal
