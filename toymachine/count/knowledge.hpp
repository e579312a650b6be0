// What is known of parameters and loop variables at one point of a program. Private to shape
// inference.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/nest_ranges.hpp"

namespace flashlab::toy::detail {

/// Something that holds if the polynomials are >= 0.
struct Certainty {
  bool possible = true;           // false: whether it holds cannot be told
  std::vector<Polynomial> needs;  // on parameters alone; those already known are left out
};

class Knowledge {
 public:
  explicit Knowledge(const Inequalities& domain);

  /// The range of a loop is known from enter() to leave().
  void enter(const NestLoop& range);
  void leave();
  const std::vector<NestLoop>& ranges() const { return ranges_; }

  bool implies(const Polynomial& nonnegative) const;
  bool implies_all(const std::vector<Polynomial>& nonnegative) const;
  /// Whether the difference cannot be 0; `facts` are >= 0 too.
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
  struct Fact {
    Polynomial nonnegative;
    std::vector<Atom> loops;  // the loop variables in it
    std::string text;
    explicit Fact(const Polynomial& polynomial);
    bool mentions_any(const std::vector<Atom>& atoms) const;
  };
  std::optional<Polynomial> everywhere(Polynomial goal) const;
  std::vector<const Fact*> about(std::vector<Atom> loops, const std::vector<Fact>& more) const;
  bool follows(const Polynomial& goal, const std::vector<const Fact*>& from) const;

  std::vector<Fact> facts_;         // of the domain, then of more and more loops
  std::vector<std::size_t> sizes_;  // how many there were outside of each loop
  std::vector<NestLoop> ranges_;
  std::vector<Polynomial> adopted_;
  /// Loops are looked at again and again: answers by the goal and what was known.
  mutable std::map<std::string, bool> answers_;
  mutable std::size_t effort_ = 0;  // spent on answers; beyond a limit, nothing more is proved
};

}  // namespace flashlab::toy::detail
