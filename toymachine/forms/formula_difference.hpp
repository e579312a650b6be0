// Two long formulas, shown where they differ.
#pragma once

#include <cstddef>
#include <string>

namespace flashlab::toy {

struct FormulaDifference {
  std::string one, other;
};

/// Returns both formulas as they are if they are short. Otherwise leaves out the terms that both
/// have, "... (3 equal terms)", and then what is too long: "... (5 more terms)". The terms of a
/// quotient are compared above and below the line.
FormulaDifference formula_difference(const std::string& one, const std::string& other);

/// Returns the first terms of a formula, and how many are left out.
std::string shortened_formula(const std::string& formula);

}  // namespace flashlab::toy
