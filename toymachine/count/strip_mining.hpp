// Joins loops that were cut into blocks. Private to counting.
#pragma once

#include <vector>

#include "toymachine/count/iteration_space.hpp"

namespace flashlab::toy::detail {

/// Returns a path of loops that runs equally often. `for b in 0..n step s` around `for i in
/// b..min(b + s, n)` is one loop over 0..n if no other bound uses b; so is `for t in
/// 0..ceildiv(n, s)` around `for i in s*t..min(s*t + s, n)`. Sums over blocks would give the same
/// result with more cases.
std::vector<NestLoop> without_strip_mining(std::vector<NestLoop> path);

/// Whether the expression contains the variable.
bool mentions(const NestExpression& expression, const Atom& variable);

}  // namespace flashlab::toy::detail
