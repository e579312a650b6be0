// Which terms of a formula grow fastest, for formulas that are too long to be read.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "toymachine/count/formula.hpp"

namespace flashlab::toy {

/// Returns the symbols in divisors: the sizes of tiles, B in ceil(n/B).
std::set<std::string> divisor_symbols(const Formula& formula);

/// How sizes grow: all by the same huge factor, from the sizes that are given (1 if one is not).
/// Those of tiles and the number of registers stay: they belong to the machine.
class Growth {
 public:
  Growth(const ParameterValues& sizes, const std::set<std::string>& fixed);

  /// Returns the terms as polynomials, those with the largest values first. From some size on, no
  /// term is larger than one before it.
  std::vector<Polynomial> terms(const Polynomial& polynomial) const;

  /// Returns whether these terms tell how the whole grows: they have its sign, and are at most
  /// twice it. Terms that others cancel do not.
  bool represents(const Polynomial& terms, const Polynomial& whole) const;

 private:
  mpq_class grown(const Polynomial& polynomial) const;

  ParameterValues sizes_;
  std::set<std::string> fixed_;
};

/// The terms that grow fastest, and the number of others.
struct LeadingTerms {
  Polynomial kept;
  std::size_t left_out = 0;
};
LeadingTerms leading_terms(const std::vector<Polynomial>& fastest_first, std::size_t number);

}  // namespace flashlab::toy
