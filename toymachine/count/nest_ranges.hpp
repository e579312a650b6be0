// Ranges of loops as inequalities, and operations on their bounds. Private to counting.
#pragma once

#include <vector>

#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/iteration_space.hpp"

namespace flashlab::toy::detail {

NestExpression leaf(Polynomial polynomial);
inline bool is_leaf(const NestExpression& expression) {
  return expression.op == NestExpression::Op::kPolynomial;
}

/// Appends polynomials that are all >= 0 where value < bound. Returns true if they are
/// so only there.
bool add_below(const Polynomial& value, const NestExpression& bound, std::vector<Polynomial>& all);
/// The same for value >= bound.
bool add_at_least(const Polynomial& value, const NestExpression& bound,
                  std::vector<Polynomial>& all);
/// The same for low + shift < high.
bool add_less(const NestExpression& low, const Polynomial& shift, const NestExpression& high,
              std::vector<Polynomial>& all);
/// Appends the facts about the loop's variable inside the loop.
void add_range(const NestLoop& loop, std::vector<Polynomial>& facts);

NestExpression substitute(NestExpression expression, const Atom& atom, const Polynomial& value);
void substitute_in(NestLoop& loop, const Atom& atom, const Polynomial& value);
bool mentions(const NestLoop& loop, const Atom& atom);

/// Returns the variable's value in iteration `number`, counted from 0. The lower bound must
/// be a leaf.
Polynomial value_in_iteration(const NestLoop& loop, std::size_t number);
/// The loop without its first `number` iterations.
NestLoop without_first(NestLoop loop, std::size_t number);
/// The loop with at most its first iteration.
NestLoop only_first(NestLoop loop);

}  // namespace flashlab::toy::detail
