// What a small program states, as an algebra: the values that its outputs' formulas are made of.
//
// A sum may be made of any two parts of it, a part's common factors be taken out; a product of any
// of its factors; a quotient be divided as a whole or in parts; a maximum be taken of any of its
// arguments first. e^(a - b) is made from a - b and from nothing else but such exponentials, so
// that nothing overflows that did not. Beside these stand the values that the program itself makes,
// so that it is among the programs that the proof is about.
#pragma once

#include <string>
#include <vector>

#include "optimal/problem/value_algebra.hpp"
#include "toymachine/forms/normal_form.hpp"

namespace flashlab::optimal {

struct Stated {
  struct Cell {
    std::string name;      // "x[0]"
    toy::NormalForm form;  // what it holds: at the beginning, or at the end
  };
  std::string title;
  Instructions instructions;
  std::vector<std::string> declarations;  // of the witness
  std::vector<Cell> inputs;               // all that there are
  std::vector<Cell> outputs;              // all that must be stored
  std::vector<toy::NormalForm> made;      // what the program makes on its way; may be empty
  std::vector<toy::NormalForm> divisors;  // what it divides by
};

/// Inputs that no output depends on are left out. Errors: std::length_error when there are more
/// values than `most_values`, or sums, products and maxima too long to be taken apart;
/// std::invalid_argument for an output that is -inf or undefined.
ValueAlgebra decomposed(const Stated& stated, int most_values = 400);

}  // namespace flashlab::optimal
