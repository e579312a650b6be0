// What is known of parameters and loop variables at one point of a program. Private to shape
// inference.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/detail/inequalities.hpp"
#include "toymachine/detail/nest_ranges.hpp"

namespace flashlab::toy::detail {

/// Something that holds if the polynomials are >= 0.
struct Certainty {
  bool possible = true;           // false: whether it holds cannot be told
  std::vector<Polynomial> needs;  // on parameters alone; those already known are left out
};

class Knowledge {
 public:
  explicit Knowledge(const Inequalities& domain) : inside_{domain}, contexts_(1) {}

  /// The range of a loop is known from enter() to leave().
  void enter(const NestLoop& range);
  void leave() {
    inside_.pop_back();
    ranges_.pop_back();
    contexts_.pop_back();
  }
  const std::vector<NestLoop>& ranges() const { return ranges_; }

  bool implies(const Polynomial& nonnegative) const;
  bool implies_all(const std::vector<Polynomial>& nonnegative) const;
  /// With more facts.
  bool tells_apart(const Polynomial& difference, const std::vector<Polynomial>& facts) const;

  /// low + shift < high.
  Certainty less(const NestExpression& low, const Polynomial& shift,
                 const NestExpression& high) const;
  bool below(const Polynomial& value, const NestExpression& bound) const;
  /// value >= bound, for certain.
  bool at_least(const Polynomial& value, const NestExpression& bound) const;

  /// From now on, the conditions are taken to hold.
  void adopt(const std::vector<Polynomial>& nonnegative);
  const std::vector<Polynomial>& adopted() const { return adopted_; }

 private:
  std::optional<Polynomial> everywhere(Polynomial goal) const;

  std::vector<Inequalities> inside_;  // the domain, then more and more loops
  std::vector<NestLoop> ranges_;
  std::vector<Polynomial> adopted_;
  /// Loops are looked at again and again: answers by question and what was known.
  std::vector<std::string> contexts_;
  mutable std::map<std::string, bool> answers_;
};

}  // namespace flashlab::toy::detail
