#include "toymachine/count/strip_mining.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/nest_ranges.hpp"

namespace flashlab::toy::detail {
namespace {

using Op = NestExpression::Op;

/// Whether `upper` is min(block_end, whole): the end of a block, cut off at the end of the whole.
bool is_cut_off(const NestExpression& upper, const Polynomial& block_end,
                const NestExpression& whole) {
  if (upper.op != Op::kMin) return false;
  const NestExpression end{Op::kPolynomial, block_end, {}};
  std::vector<NestExpression> expected{end};
  if (whole.op == Op::kMin) {
    expected.insert(expected.end(), whole.args.begin(), whole.args.end());
  } else {
    expected.push_back(whole);
  }
  return std::is_permutation(upper.args.begin(), upper.args.end(), expected.begin(),
                             expected.end());
}

/// The range that the inner loop covers over all blocks.
struct Whole {
  NestExpression lower, upper;
};

std::optional<Whole> whole_range(const NestLoop& blocks, const NestLoop& inner) {
  if (!is_leaf(inner.lower)) return std::nullopt;
  const Polynomial block = loop_atom(blocks.number);
  const auto reaches_by = [&](const Polynomial& size) {
    return divide(size, inner.step, /*whole=*/true).remainder.is_zero();
  };
  if (inner.lower.polynomial == block && reaches_by(blocks.step) &&
      is_cut_off(inner.upper, block + blocks.step, blocks.upper)) {
    return Whole{blocks.lower, blocks.upper};
  }
  // Blocks counted from 0: block t begins at size * t.
  const Polynomial size = inner.lower.polynomial.coefficient(loop_atom(blocks.number), 1);
  const bool counted = is_leaf(blocks.lower) && blocks.lower.polynomial.is_zero() &&
                       is_leaf(blocks.upper) && blocks.step == Polynomial(1) && !size.is_zero() &&
                       inner.lower.polynomial == size * block && !has_loop_atom(size);
  const auto number = size.as_constant();
  if (!counted || (number && *number < 1) || !reaches_by(size) || inner.upper.op != Op::kMin) {
    return std::nullopt;
  }
  for (const NestExpression& whole : inner.upper.args) {
    if (is_leaf(whole) && !has_loop_atom(whole.polynomial) &&
        is_cut_off(inner.upper, size * block + size, whole) &&
        blocks.upper.polynomial == ceil_quotient(whole.polynomial, size)) {
      return Whole{blocks.lower, whole};
    }
  }
  return std::nullopt;
}

bool join_first(std::vector<NestLoop>& path) {
  for (std::size_t b = 0; b < path.size(); ++b) {
    const Atom block = loop_atom(path[b].number);
    std::vector<std::size_t> users;
    for (std::size_t i = b + 1; i < path.size(); ++i) {
      if (mentions(path[i].lower, block) || mentions(path[i].upper, block)) users.push_back(i);
    }
    if (users.size() != 1) continue;
    NestLoop& inner = path[users[0]];
    auto whole = whole_range(path[b], inner);
    if (!whole) continue;
    inner.lower = std::move(whole->lower);
    inner.upper = std::move(whole->upper);
    path.erase(path.begin() + static_cast<std::ptrdiff_t>(b));
    return true;
  }
  return false;
}

}  // namespace

bool mentions(const NestExpression& expression, const Atom& variable) {
  return expression.polynomial.degree(variable) > 0 ||
         std::any_of(expression.args.begin(), expression.args.end(),
                     [&](const NestExpression& arg) { return mentions(arg, variable); });
}

std::vector<NestLoop> without_strip_mining(std::vector<NestLoop> path) {
  while (join_first(path)) {
  }
  return path;
}

}  // namespace flashlab::toy::detail
