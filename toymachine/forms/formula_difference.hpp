// Two long formulas, shown where they differ.
#pragma once

#include <cstddef>
#include <string>

namespace flashlab::toy {

struct FormulaDifference {
  std::string one, other;
};

/// A formula of at most this many characters is shown as it is.
inline constexpr std::size_t kShortFormula = 100;

/// Returns both formulas as they are if they are short. Otherwise leaves out the terms that both
/// have, "... (3 terms are the same)", then what both have inside parentheses, "e^(...)", and then what is
/// too long: "... (5 more terms)". Factors of products and quotients, exponents and arguments of a
/// maximum are compared one by one. What differs is never among what is left out.
FormulaDifference formula_difference(const std::string& one, const std::string& other);

/// The same, but cut to about `room` characters around what differs if one of them is longer.
FormulaDifference formula_difference(const std::string& one, const std::string& other,
                                     std::size_t room);

/// Returns the formula if it has at most `room` characters. Otherwise returns its first terms and
/// how many are left out, each with its parentheses closed: "(a*e^(...) + ... (3 more terms))/b".
std::string shortened_formula(const std::string& formula, std::size_t room = kShortFormula);

}  // namespace flashlab::toy
