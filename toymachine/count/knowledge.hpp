// The facts known about parameters and loop variables at one point of a program. Private
// to shape inference.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/nest_ranges.hpp"

namespace flashlab::toy::detail {

/// A statement that holds if the polynomials are >= 0.
struct Certainty {
  bool possible = true;           // false: it is not known whether it holds
  std::vector<Polynomial> needs;  // on parameters only, without those already known
};

class Knowledge {
 public:
  explicit Knowledge(const Inequalities& domain);

  /// The loop's range is known between enter() and leave().
  void enter(const NestLoop& range);
  void leave();
  const std::vector<NestLoop>& ranges() const { return ranges_; }

  bool implies(const Polynomial& nonnegative) const;
  bool implies_all(const std::vector<Polynomial>& nonnegative) const;
  /// Whether the difference cannot be 0; `facts` are polynomials that are also >= 0.
  bool tells_apart(const Polynomial& difference, const std::vector<Polynomial>& facts) const;

  /// low + shift < high.
  Certainty less(const NestExpression& low, const Polynomial& shift,
                 const NestExpression& high) const;
  bool below(const Polynomial& value, const NestExpression& bound) const;
  /// Whether value >= bound is certain.
  bool at_least(const Polynomial& value, const NestExpression& bound) const;

  /// Assumes the conditions from now on.
  void adopt(const std::vector<Polynomial>& nonnegative);
  const std::vector<Polynomial>& adopted() const { return adopted_; }

 private:
  struct Fact {
    Polynomial nonnegative;
    std::vector<Atom> loops;  // the loop variables that it contains
    std::string text;
    explicit Fact(const Polynomial& polynomial);
    bool mentions_any(const std::vector<Atom>& atoms) const;
  };
  std::optional<Polynomial> everywhere(Polynomial goal) const;
  std::vector<const Fact*> about(std::vector<Atom> loops, const std::vector<Fact>& more) const;
  bool follows(const Polynomial& goal, const std::vector<const Fact*>& from) const;

  std::vector<Fact> facts_;         // of the domain, then of each loop from the outside in
  std::vector<std::size_t> sizes_;  // number of facts outside of each loop
  std::vector<NestLoop> ranges_;
  std::vector<Polynomial> adopted_;
  /// Loops are visited many times: answers by the goal and the known facts.
  mutable std::map<std::string, bool> answers_;
  mutable std::size_t effort_ = 0;  // spent on answers; beyond a limit, nothing more is proved
};

}  // namespace flashlab::toy::detail
